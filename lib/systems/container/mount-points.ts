/**
 * Runtimes make what they mount onto in the root file system of a bundle, and leave it there. What was not there before is
 * removed again: it is the user's.
 */
import { lstatSync, rmdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';

const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

/** The paths in `rootfs` that mounting onto `targets` would make, the innermost first. */
export function missingMountPoints(rootfs: string, targets: readonly string[]): string[] {
  const all = targets.flatMap((target) => {
    const parts = target.split('/').filter(Boolean);
    return parts.map((_, index) => join(rootfs, ...parts.slice(0, index + 1)));
  });
  const missing = [...new Set(all)].filter((path) => !isThere(path));
  return missing.sort((a, b) => b.length - a.length);
}

/** Nothing that holds anything. */
export function removeMountPoints(paths: readonly string[]): void {
  for (const path of paths) {
    const found = lstatSync(path, { throwIfNoEntry: false });
    try {
      if (found?.isDirectory()) rmdirSync(path);
      else if (found?.isFile() && found.size === 0) unlinkSync(path);
    } catch {
      // Something was put in, or it cannot be changed: it is not ours to remove.
    }
  }
}
