// The licences of packages whose code is inside a bundle.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const LICENCE = /^(licen[cs]e|notice)/i;

/** Files of a folder that hold licences; ECharts has some in a folder. */
const filesIn = (folder) =>
  ['', 'licenses'].flatMap((sub) =>
    existsSync(join(folder, sub))
      ? readdirSync(join(folder, sub), { withFileTypes: true })
          .filter((entry) => entry.isFile() && LICENCE.test(entry.name))
          .map(({ name }) => join(sub, name))
      : [],
  );

/** A text with the licences of the packages in these folders. Fails if one has none. */
export function noticesOf(head, folders) {
  const texts = folders.flatMap((folder) => {
    const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const files = filesIn(folder);
    if (files.length === 0) throw new Error(`Expected ${name} to have a licence in ${folder}.`);
    return files.map((each) => `${name} ${version}, ${each}\n\n${readFileSync(join(folder, each), 'utf8').trim()}\n`);
  });
  return [head, ...texts].join(`\n${'='.repeat(80)}\n\n`);
}
