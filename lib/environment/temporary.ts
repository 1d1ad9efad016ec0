/** The folder for temporary files. */
import { accessSync, constants, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { reasonOf } from '../errors/unwritable.js';
import { quoted, UsageError } from '../errors/usage-error.js';

/** Throws UsageError if TMPDIR names a folder that cannot be written; without the variable nothing is checked. */
export function checkTemporary(): void {
  if (!process.env.TMPDIR) return;
  const refused = (why: string) =>
    new UsageError(`Expected TMPDIR to be a folder that can be written but received ${quoted(tmpdir())}: ${why}.`);
  try {
    if (statSync(tmpdir()).isDirectory()) return accessSync(tmpdir(), constants.W_OK);
  } catch (error) {
    throw refused(ofPaths[String((error as NodeJS.ErrnoException).code)] ?? reasonOf(error));
  }
  throw refused('it is not a folder');
}

const ofPaths: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  ENOTDIR: 'a part of its path is not a folder',
};
