/** The sources of lib/ and what they import, for tests that read them. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const lib = join(root, 'lib');

/** The sources of a folder of the checkout, relative to the checkout: TypeScript and JavaScript, or those of `ending`. */
export const sourcesIn = (folder: string, ending = /\.(ts|js|mjs)$/): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => ending.test(file))
    .map((file) => join(folder, file))
    .sort();

export const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');

/** The sources that a file imports, of types too, relative to the checkout. */
export const importsOf = (file: string): string[] =>
  [...textOf(file).matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map(([, path = '']) =>
    relative(root, join(root, dirname(file), path))
      .replace(/^dist\//, 'lib/')
      .replace(/\.js$/, '.ts'),
  );
