/** A library that processes preload; checked before anything runs. */
import { accessSync, closeSync, constants, openSync, readSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { quoted, UsageError } from '../../errors/usage-error.js';
import { parseElfHeader, unsuitable } from '../proof/elf.js';
import { whyNotPreloaded } from './loader-path.js';

/** Returns its absolute path. `what` names the setting; relative paths are relative to `folder`. */
export function checkLibrary(path: string, what: string, folder: string, arch?: string): string {
  const absolute = resolve(folder, path);
  const fault =
    whyNotPreloaded(absolute) ?? unreadable(absolute) ?? unsuitable(parseElfHeader(firstBytes(absolute)), arch);
  if (fault === null) return absolute;
  throw new UsageError(
    `Expected ${what} to be a shared library of this machine but received ${quoted(path)}: ${fault}.`,
  );
}

/** PATH_MAX of limits.h. */
const LONGEST_PATH = 4_096;

/**
 * The file that an entry of LD_PRELOAD was to name if a separator in its path splits it, else the entry itself: an error
 * is to name the whole path.
 */
export function unsplit(entry: string, value: string, folder: string): string {
  if (missingLibrary(entry, folder) === null) return entry;
  const rest = value.slice(value.indexOf(entry), value.indexOf(entry) + LONGEST_PATH);
  const ends = [...rest.matchAll(/(?<=[^ :])(?=[ :]|$)/g)].map(({ index }) => rest.slice(0, index));
  return ends.find((path) => missingLibrary(path, folder) === null) ?? entry;
}

/** Why it cannot be read; null if it can. Does not check whether it suits this machine. */
export const missingLibrary = (path: string, folder: string): string | null => unreadable(resolve(folder, path));

function unreadable(path: string): string | null {
  try {
    const stat = statSync(path);
    if (stat.isDirectory()) return 'it is a directory';
    if (!stat.isFile()) return 'it is not a regular file';
    accessSync(path, constants.R_OK);
    return null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'there is no such file';
    return code === 'EACCES' ? 'it cannot be read' : `it cannot be read (${code})`;
  }
}

function firstBytes(path: string): Buffer {
  const buffer = Buffer.alloc(20);
  const file = openSync(path, 'r');
  try {
    return buffer.subarray(0, readSync(file, buffer, 0, buffer.length, 0));
  } finally {
    closeSync(file);
  }
}
