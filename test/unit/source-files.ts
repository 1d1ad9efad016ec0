/** The sources of lib/ and what they import, for tests that read them. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const lib = join(root, 'lib');

/** The files of a folder of the checkout with names of this ending, relative to the checkout. */
export const filesIn = (folder: string, ending: RegExp): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => ending.test(file))
    .map((file) => join(folder, file))
    .sort();

/** The sources of a folder of the checkout, relative to the checkout. */
export const sourcesIn = (folder: string): string[] => filesIn(folder, /\.(ts|js|mjs)$/);

export const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');

/** The sources that a file imports, of types too, relative to the checkout. */
export const importsOf = (file: string): string[] =>
  [...textOf(file).matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map(([, path = '']) =>
    relative(root, join(root, dirname(file), path))
      .replace(/^dist\//, 'lib/')
      .replace(/\.js$/, '.ts'),
  );
