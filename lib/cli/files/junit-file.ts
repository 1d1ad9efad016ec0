/**
 * Marks the file of --junit as unfinished until there is a result: a file of an earlier run must not be taken for this
 * run's result.
 */
import { readFile, stat } from 'node:fs/promises';
import { messageOf } from '../../errors/message-of.js';
import { unjudgedJunitReport } from '../../report/formats/junit.js';
import { exitCodes } from '../options/exit-codes.js';
import { failureOf, STDOUT, writeWhole } from './output.js';
import type { Output } from '../options/document-outputs.js';

export const junitTargets = (outputs: readonly Output[]): string[] =>
  outputs.filter(({ format }) => format === 'junit').map(({ target }) => target);

/** Files only: a pipe would get two documents. A file that cannot be written is reported when it gets its result. */
export async function markUnfinished(targets: readonly string[]): Promise<void> {
  const text = unjudgedJunitReport('unfinished', 'The measurement did not finish, so the gate was not checked.');
  for (const target of targets) {
    const existing = await stat(target).catch(() => null);
    if (target !== STDOUT && existing?.isFile() !== false) await failureOf(writeWhole(target, text));
  }
}

/**
 * Called after an error that ended the command, possibly before the options were parsed, so it searches the arguments.
 * Replaces only what is a JUnit file already, because the name may be the mistake.
 */
export async function replaceStale(argv: readonly string[], error: unknown, code: number): Promise<void> {
  const type = code === exitCodes.usage ? 'refused' : code === exitCodes.interrupted ? 'interrupted' : 'failed';
  for (const target of namedFiles(argv))
    if (await isJunitFile(target)) await failureOf(writeWhole(target, unjudgedJunitReport(type, messageOf(error))));
}

const OPTION = '--junit';

const namedFiles = (argv: readonly string[]): string[] =>
  argv.flatMap((text, index) => {
    if (text.startsWith(`${OPTION}=`)) return text.slice(OPTION.length + 1);
    return text === OPTION ? (argv[index + 1] ?? []) : [];
  });

async function isJunitFile(path: string): Promise<boolean> {
  if (!(await stat(path).catch(() => null))?.isFile()) return false;
  const text = await readFile(path, 'utf8').catch(() => '');
  return /^\s*(<\?xml[^>]*>\s*)?<testsuites?[\s>]/.test(text);
}
