import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder with this package's package.json, above lib/ and dist/ alike, however dist/ is bundled. */
export const packageRoot = ((): string => {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) {
    const above = dirname(folder);
    if (above === folder) throw new Error(`Expected a package.json in a folder above ${import.meta.url}.`);
    folder = above;
  }
  return folder;
})();
