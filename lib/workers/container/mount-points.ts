/**
 * Runtimes make what they mount onto in the root file system of a bundle, and leave it there. What was not there before is
 * removed again: the file system is the user's.
 */
import { lstatSync, realpathSync, rmdirSync, unlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** What mounting onto `targets`, which are paths inside, makes in the root file system. */
export function missingMountPoints(rootfs: string, targets: readonly string[]): string[] {
  const paths = targets.flatMap((target) => {
    const parts = target.split('/').filter(Boolean);
    return parts.map((_, index) => join(rootfs, ...parts.slice(0, index + 1)));
  });
  return [...new Set(paths)].filter((path) => lstatSync(path, { throwIfNoEntry: false }) === undefined);
}

/** Nothing that holds anything, and nothing that a link puts outside of the root file system. */
export function removeMountPoints(paths: readonly string[]): void {
  for (const path of [...paths].sort((a, b) => b.length - a.length))
    try {
      if (realpathSync(dirname(path)) !== dirname(path)) continue;
      const found = lstatSync(path);
      if (found.isDirectory()) rmdirSync(path);
      else if (found.isFile() && found.size === 0) unlinkSync(path);
    } catch {
      // The file or folder is gone, is not empty any more, or cannot be removed.
    }
}
