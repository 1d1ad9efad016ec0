/** The files that a command writes: each can be written, and is no other of them nor what the command reads. */
import { readlink, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { quoted, UsageError } from '../errors/usage-error.js';
import { SUMMARY } from '../saved/read.js';
import { checkTarget, STDOUT } from './output.js';

/** `inputs` are files and directories of results. */
export async function checkTargets(
  targets: readonly { option: string; target: string | undefined }[],
  inputs: readonly (string | undefined)[],
): Promise<void> {
  const named = targets.flatMap(({ option, target }) => (target === undefined ? [] : [{ option, target }]));
  const onStdout = named.filter(({ target }) => target === STDOUT).map(({ option }) => option);
  if (onStdout.length > 1)
    throw new UsageError(`Expected one of ${onStdout.join(' and ')} to be a file but received - for both.`);
  const taken = new Map<string, string>();
  for (const input of inputs)
    for (const path of input === undefined ? [] : [input, join(input, SUMMARY)])
      taken.set(await placeOf(path), 'is read');
  for (const { option, target } of named) {
    await checkTarget(target, option);
    if (target === STDOUT || (await isDevice(target))) continue;
    const place = await placeOf(target);
    const other = taken.get(place);
    if (other !== undefined)
      throw new UsageError(
        `Expected ${option} to be a file of its own but received ${quoted(target)}, which ${other}: name another.`,
      );
    taken.set(place, `is that of ${option}`);
  }
}

/** Several outputs may share one: a file would hold the last alone. */
async function isDevice(target: string): Promise<boolean> {
  const found = await stat(target).catch(() => null);
  return found !== null && !found.isFile();
}

/** Through symbolic links, of what is not there yet as well. */
async function placeOf(path: string): Promise<string> {
  const found = await realpath(path).catch(() => null);
  if (found !== null) return found;
  const link = await readlink(path).catch(() => null);
  if (link !== null) return placeOf(resolve(dirname(path), link));
  const folder = await realpath(dirname(path)).catch(() => resolve(dirname(path)));
  return join(folder, basename(path));
}
