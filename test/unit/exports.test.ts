/** What a file of lib/ exports, another file imports: of lib/, of the tests, or of what runs from a checkout. */
import { expect, it } from 'vitest';
import { importsOf, sourcesIn, textOf } from './source-files.js';

/** The public API, the files that are a part of it as a whole, and what is generated from the addon. */
const wholeInApi = [...textOf('lib/index.ts').matchAll(/^export (?:type )?\* from '\.\/([^']+)\.js'/gm)].map(
  ([, file]) => `lib/${file}.ts`,
);
const exempt = ['lib/index.ts', 'lib/native/addon-types.ts', ...wholeInApi];

const files = ['lib', 'test', 'bench', 'scripts'].flatMap(sourcesIn);
const texts = new Map(files.map((file) => [file, textOf(file)]));
const importersOf = new Map<string, string[]>();
for (const file of files)
  for (const target of new Set(importsOf(file)))
    importersOf.set(target, [...(importersOf.get(target) ?? []), texts.get(file) ?? '']);

const exported = /^export (?:async )?(?:const|function|class|interface|type) (\w+)/gm;
const namesIn = (file: string): string[] =>
  [...(texts.get(file) ?? '').matchAll(exported)].map(([, name = '']) => name);

it('exports nothing that no other file imports', () => {
  const unused = files
    .filter((file) => file.startsWith('lib/') && file.endsWith('.ts') && !exempt.includes(file))
    .flatMap((file) => {
      const importers = importersOf.get(file) ?? [];
      const isUsed = (name: string) => importers.some((text) => new RegExp(`\\b${name}\\b`).test(text));
      return namesIn(file).flatMap((name) => (isUsed(name) ? [] : [`${file}: ${name}`]));
    });
  expect(unused).toEqual([]);
});
