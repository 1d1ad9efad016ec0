/**
 * Runtimes make what they mount onto in the root file system of a bundle, and leave it there. What was not there before is
 * removed again: the file system is the user's.
 */
import { lstatSync, realpathSync, rmdirSync, unlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';

export class MountPoints {
  readonly #made = new Set<string>();

  /** Before something is mounted onto `targets`, which are paths inside. */
  expect(rootfs: string, targets: readonly string[]): void {
    for (const target of targets) {
      const parts = target.split('/').filter(Boolean);
      for (const [index] of parts.entries()) {
        const path = join(rootfs, ...parts.slice(0, index + 1));
        if (!isThere(path)) this.#made.add(path);
      }
    }
  }

  /** Nothing that holds anything, and nothing that a link puts outside of the root file system. */
  remove(): void {
    for (const path of [...this.#made].sort((a, b) => b.length - a.length))
      try {
        if (realpathSync(dirname(path)) !== dirname(path)) continue;
        const found = lstatSync(path);
        if (found.isDirectory()) rmdirSync(path);
        else if (found.isFile() && found.size === 0) unlinkSync(path);
      } catch {
        // It is gone, something was put in, or it cannot be changed.
      }
    this.#made.clear();
  }
}

const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;
