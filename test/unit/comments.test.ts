/** Doc comments begin with the name or a verb, because editors show them alone. */
import { expect, it } from 'vitest';
import { sourcesIn, textOf } from './source-files.js';

/** Folders whose comments are still to be rewritten. The comments of the addon's types are those of native/addon. */
const unswept = ['answer', 'load', 'report', 'run', 'workloads'];
const generated = 'lib/native/addon-types.ts';

const beginning = /\/\*\*\s+(?:\* )?(?:Of|As|By|Instead|Beside)\b.*/g;
const isUnswept = (file: string) =>
  unswept.some((folder) => file.startsWith(`lib/${folder}/`)) || !/^lib\/\w+\//.test(file);

const files = sourcesIn('lib').filter((file) => file !== generated);
const wrongIn = (file: string) => [...textOf(file).matchAll(beginning)].map(([text]) => `${file}: ${text}`);

it('never begin with a preposition in place of the noun', () =>
  expect(files.filter((file) => !isUnswept(file)).flatMap(wrongIn)).toEqual([]));

it.each(unswept)('are still to be rewritten in lib/%s, or the list is too long', (folder) =>
  expect(files.filter((file) => file.startsWith(`lib/${folder}/`)).flatMap(wrongIn)).not.toEqual([]),
);
