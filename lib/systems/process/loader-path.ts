/**
 * Paths as the variables of the dynamic loader take them. ld.so(8): LD_PRELOAD separates at spaces and colons,
 * LD_LIBRARY_PATH at colons and semicolons, both expand `$LIB` and its like, and nothing can be escaped.
 */
import { rmSync } from 'node:fs';
import { symlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { quoted, UsageError } from '../../errors/usage-error.js';
import { makeRunDirectory } from './run-directory.js';

const reasons: readonly (readonly [string, string])[] = [
  [' ', 'LD_PRELOAD separates paths at spaces'],
  [':', 'LD_PRELOAD separates paths at colons'],
  ['$', 'LD_PRELOAD expands $'],
  ['\n', 'the kernel lists a path with a line break as another one'],
  ['\0', 'no path has a zero byte'],
];

/** Why a library with that path cannot be preloaded and proven to be; null if it can. */
export function whyNotPreloaded(path: string): string | null {
  const found = reasons.find(([character]) => path.includes(character));
  return found ? `${found[1]}: give it another path (a copy will do)` : null;
}

/** Whether LD_PRELOAD and LD_LIBRARY_PATH take it as one path. */
const isWhole = (path: string): boolean => !/[ :;$\n\0]/.test(path);

/** A link outside the container is not in it. */
export function checkDriverPath(path: string): void {
  if (isWhole(path)) return;
  throw new UsageError(
    `Expected the simulated driver in a container to have a path without a space, :, ;, $ or line break but received ${quoted(path)}: the dynamic loader splits it. Move the package to another folder.`,
  );
}

let links: Promise<string> | null = null;

/** One folder per process: programs that were given a link may start others until it ends. */
async function linkFolder(): Promise<string> {
  const folder = await makeRunDirectory('links');
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A path of this package's file or folder for a variable of the loader: its own, or that of a link in TMPDIR. */
export async function loaderPath(path: string): Promise<string> {
  if (isWhole(path)) return path;
  links ??= linkFolder();
  const link = join(await links, basename(path));
  if (!isWhole(link))
    throw new UsageError(
      `Expected TMPDIR to be a folder without a space, :, ;, $ or line break in its path but received ${quoted(link)}: the dynamic loader splits the path of ${quoted(path)}, so a link to it has to be made there.`,
    );
  await symlink(path, link).catch((error: NodeJS.ErrnoException) => {
    // Of an earlier call: the name is of this package.
    if (error.code !== 'EEXIST') throw error;
  });
  return link;
}
