/** Doc comments begin with the name or a verb, because editors show them alone. */
import { expect, it } from 'vitest';
import { filesIn, sourcesIn, textOf } from './source-files.js';

const preposition = '(?:Of|As|By|Instead|Beside)\\b.*';
const docComment = new RegExp(`/\\*\\*\\s+(?:\\* )?${preposition}`, 'g');
/** The first line of a comment in a header. */
const headerComment = new RegExp(`(?<!^[ \\t]*//.*\\n)^[ \\t]*// ${preposition}`, 'gm');

/** This file, whose examples begin so. */
const OWN_FILE = 'test/unit/comments.test.ts';

const found = (files: readonly string[], pattern: RegExp) =>
  files
    .filter((file) => file !== OWN_FILE)
    .flatMap((file) => [...textOf(file).matchAll(pattern)].map(([text]) => `${file}: ${text.trim()}`));

// Those of lib/native/addon-types.ts are written in native/addon, and those of lib/settings-types.ts in schemas.
it.each(['lib', 'test', 'scripts'])('never begin with a preposition in place of the noun in %s/', (folder) =>
  expect(found(sourcesIn(folder), docComment)).toEqual([]),
);

it('never begin with a preposition in the headers of native/', () =>
  expect(found(filesIn('native', /\.h$/), headerComment)).toEqual([]));

it.each([
  ['a doc comment on one line', docComment, '/** Of a victim. */'],
  ['a doc comment on several lines', docComment, '/**\n   * Instead of rounds: a time.\n   */'],
  ['a comment in a header', headerComment, 'int a;\n  // As NVML reports it.\n  int b;'],
])('are recognised in %s', (_, pattern, text) => expect([...text.matchAll(pattern)]).toHaveLength(1));

it('may begin a further line with a preposition', () =>
  expect([...'// Time of the start.\n// As a walk begins, it counts.'.matchAll(headerComment)]).toEqual([]));
