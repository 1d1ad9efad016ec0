/** A kind of system is compared by name where it is defined; elsewhere a property of the system says what follows. */
import { describe, expect, it } from 'vitest';
import { kinds } from '../../lib/systems/registry.js';
import { sourcesIn, textOf } from './source-files.js';

/** What a document says of its systems is read in one file. */
const recorded = 'lib/results/recorded-kind.ts';
const files = sourcesIn('lib').filter((file) => file !== recorded);

/** The forms of a comparison with a kind. */
const comparisonWith = (kind: string): RegExp =>
  new RegExp(
    [
      `\\bkind\\)? *[=!]== *'${kind}'`,
      `'${kind}' *[=!]== *[\\w.?]*\\bkind\\b`,
      `\\bcase '${kind}':`,
      `'${kind}'[^\\]\\n]*\\]\\.includes\\([^)]*\\bkind\\)`,
    ].join('|'),
  );

describe.each([...Object.keys(kinds), 'environment'])('the kind %s', (kind) => {
  it('is compared in no file outside of its folder', () => {
    const others = files.filter((file) => !file.startsWith(`lib/systems/kinds/${kind}/`));
    expect(others.filter((file) => comparisonWith(kind).test(textOf(file)))).toEqual([]);
  });
});

it.each([
  "if (system.kind === 'mps')",
  "if ('mps' !== system.kind)",
  "    case 'mps':",
  "['fcsp', 'mps', 'native'].includes(system.kind)",
])('would be found: %s', (text) => expect(text).toMatch(comparisonWith('mps')));
