/** The folder for temporary files. */
import { accessSync, constants, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { quoted, UsageError } from '../errors/usage-error.js';

/** Throws UsageError if TMPDIR names a folder that cannot be written; without the variable nothing is checked. */
export function checkTemporary(): void {
  if (!process.env.TMPDIR) return;
  const refused = (why: string) =>
    new UsageError(`Expected TMPDIR to be a folder that can be written but received ${quoted(tmpdir())}: ${why}.`);
  const found = statSync(tmpdir(), { throwIfNoEntry: false });
  if (!found) throw refused('it does not exist');
  if (!found.isDirectory()) throw refused('it is not a folder');
  try {
    accessSync(tmpdir(), constants.W_OK);
  } catch (error) {
    throw refused((error as Error).message);
  }
}
