/** A library that processes preload; checked before anything runs. */
import { accessSync, closeSync, constants, openSync, readSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { quoted, UsageError } from '../errors/usage-error.js';
import { parseElfHeader, unsuitable } from './elf.js';

/** Returns its absolute path. `what` names the setting; relative paths are relative to `folder`. */
export function checkLibrary(path: string, what: string, folder: string, arch?: string): string {
  const absolute = resolve(folder, path);
  const fault = separator(absolute) ?? unreadable(absolute) ?? unsuitable(parseElfHeader(firstBytes(absolute)), arch);
  if (fault === null) return absolute;
  throw new UsageError(
    `Expected ${what} to be a shared library of this machine but received ${quoted(path)}: ${fault}.`,
  );
}

/** Why it cannot be read; null if it can. Does not check whether it suits this machine. */
export const missingLibrary = (path: string, folder: string): string | null => unreadable(resolve(folder, path));

/** ld.so(8): LD_PRELOAD is separated by spaces and colons, and expands `$`. They cannot be escaped. */
const separator = (path: string): string | null =>
  /[\s:$\0]/.test(path) ? 'LD_PRELOAD cannot hold a path with white space, : or $ in it' : null;

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
