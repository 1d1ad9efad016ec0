import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NAME = 'gpu-virt-bench';

function isRoot(folder: string): boolean {
  try {
    const { name } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { name?: unknown };
    return name === NAME;
  } catch {
    // Missing or not JSON: not this package.
    return false;
  }
}

/**
 * The folder of this package, which contains lib/ and dist/, however dist/ is bundled. Inside another program's bundle
 * it is the folder of that bundle; missing files are then reported.
 */
export const packageRoot = ((): string => {
  const own = dirname(fileURLToPath(import.meta.url));
  let folder = own;
  while (!isRoot(folder)) {
    if (dirname(folder) === folder) return own;
    folder = dirname(folder);
  }
  return folder;
})();
