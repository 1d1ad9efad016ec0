/** Files that a layer leaves behind. Only files that this run created are ever deleted. */
import { lstat, mkdir, realpath, rm, unlink } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { quoted, UsageError } from '../../errors/usage-error.js';

/** Creates a folder that only this user can enter; an existing one may hold another run's state. */
export async function privateDirectory(path: string): Promise<string> {
  try {
    await mkdir(path, { mode: 0o700 });
    return path;
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code === 'EEXIST' ? 'it exists' : (error as Error).message;
    throw new UsageError(`Expected ${path} to be a new folder for this run's state: ${why}.`);
  }
}

/** Why it may not be named as a state file, or null. `runDirectory` may still be a placeholder. */
export function refusedStateFile(path: string, runDirectory: string): string | null {
  const inside = path.startsWith(`${runDirectory}/`) ? path.slice(runDirectory.length) : null;
  const rest = inside ?? path;
  if (!rest.startsWith('/')) return 'it is neither absolute nor in the run directory';
  if (rest.endsWith('/') || rest.includes('//')) return 'it names a folder';
  if (rest.split('/').some((part) => part === '..' || part === '.')) return 'it has . or .. in it';
  if (/[*?[\]\0]/.test(rest)) return 'it is a pattern, but only exact paths are deleted';
  if (inside === null && rest.split('/').length < 3) return 'it is directly below /';
  return null;
}

export class StateFiles {
  readonly #directory: string;
  readonly #claimed = new Set<string>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Called before anything runs. Throws if one exists: it would decide the limits, and this run may not delete it. */
  async claim(paths: readonly string[]): Promise<void> {
    for (const path of paths) {
      if (this.#claimed.has(path)) continue;
      if (await exists(path))
        throw new UsageError(
          `Expected ${quoted(path)} not to exist before the run: it holds the state of another run; remove it.`,
        );
      this.#claimed.add(path);
    }
  }

  /** Adds files that were seen to appear. */
  adopt(paths: readonly string[]): void {
    for (const path of paths) this.#claimed.add(path);
  }

  /** Deletes claimed files, all or the given ones; returns which could not be deleted, and why. */
  async remove(only: readonly string[] = [...this.#claimed]): Promise<string[]> {
    const left: string[] = [];
    for (const path of only) {
      if (!this.#claimed.has(path)) continue;
      const why = await this.#removeOne(path);
      if (why === null) this.#claimed.delete(path);
      else left.push(`${path} was left in place: ${why}`);
    }
    return left;
  }

  async #removeOne(path: string): Promise<string | null> {
    try {
      const stat = await lstat(path);
      const folder = await realpath(dirname(path));
      const own = await realpath(this.#directory);
      const inside = folder === own || folder.startsWith(own + sep);
      // The layer may have replaced a folder by a symbolic link.
      if (path.startsWith(this.#directory + sep) && !inside) return 'its folder leads out of the run directory';
      if (stat.uid !== process.getuid?.()) return 'it belongs to another user';
      if (!stat.isDirectory()) await unlink(path);
      else if (inside) await rm(path, { recursive: true });
      else return 'it is a folder';
      return null;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'ENOENT' ? null : (error as Error).message;
    }
  }
}

export async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

/** Removes a folder created by `privateDirectory` and its contents; does not follow links. */
export async function removeDirectory(path: string): Promise<string[]> {
  try {
    await rm(path, { recursive: true, force: true });
    return [];
  } catch (error) {
    return [`${join(path)} was left in place: ${(error as Error).message}`];
  }
}
