import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NAME = 'gpu-virt-bench';

function isRoot(folder: string): boolean {
  try {
    const { name } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { name?: unknown };
    return name === NAME;
  } catch {
    // There is none, or it is no JSON: not ours.
    return false;
  }
}

/**
 * The folder of this package, above lib/ and dist/ alike, however dist/ is bundled. Inside another program's bundle, where
 * there is none, the folder of that bundle: what is looked for in it is then missing, and said to be.
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
