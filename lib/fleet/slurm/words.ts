/** Texts of users in scripts: words of the shell are quoted, values of `#SBATCH` lines are refused if anything reads them. */
import { quoted, UsageError } from '../../errors/usage-error.js';
import { shellQuoted } from '../../results/text/command-line.js';
import { plain } from '../../results/text/plain.js';

/** A word that a POSIX shell reads as exactly this text. Throws UsageError for a text that would hide something. */
export function shellWord(text: string, what: string): string {
  if (text !== '' && plain(text) !== text)
    throw new UsageError(
      `Expected ${what} to be text without control characters, and without spaces at its ends, but received ${quoted(text)}.`,
    );
  return shellQuoted(text);
}

/** Neither sbatch nor a shell gives any of these a meaning of its own. */
const harmless = /^[\w.,:=+@/(][\w.,:=+@/%()[\]&|*-]*$/;

/** A value of an option of sbatch. Throws UsageError. */
export function slurmValue(text: string, option: string): string {
  if (harmless.test(text)) return text;
  throw new UsageError(
    `Expected ${option} to be letters, digits and . , : = + @ / % ( ) [ ] & | * _ -, and not to begin with a dash, but received ${quoted(text)}.`,
  );
}

const path = /^\/[\w.,:=+@/-]*$/;

/** A folder that sbatch writes logs into: it replaces what begins with % in their names. Throws UsageError. */
export function slurmPath(text: string, option: string): string {
  if (path.test(text)) return text;
  throw new UsageError(
    `Expected ${option} to be a folder whose whole path has letters, digits and . , : = + @ / _ - only, because sbatch reads the names of logs as patterns, but received ${quoted(text)}.`,
  );
}
