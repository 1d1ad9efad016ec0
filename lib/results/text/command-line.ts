/** Commands for a reader to copy into a POSIX shell. */
import { plain } from './plain.js';

/** Characters that need no quoting. */
const bare = /^[\w@%+=:,./-]+$/;

/** Drops control characters of hostile names. */
export function shellQuoted(text: string): string {
  const line = plain(text);
  return bare.test(line) ? line : `'${line.replaceAll("'", `'\\''`)}'`;
}

export const commandLine = (argv: readonly string[]): string =>
  ['npx', 'gpu-virt-bench', ...argv].map(shellQuoted).join(' ');

/** The command that continues the comparison in a directory; `options` are those that --resume does not restore. */
export const resumeCommand = (
  directory: string,
  options: readonly string[] = [],
  command: 'compare' | 'exec' = 'compare',
): string => commandLine([command, '--resume', directory, ...options]);
