/** Outputs: standard output, or a file that appears completely or not at all. */
import { randomBytes } from 'node:crypto';
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { access, lstat, mkdir, open, readdir, readlink, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { isOfEnded, ownMark } from '../../environment/process-identity.js';
import { reasonOf, unwritable } from '../../errors/unwritable.js';
import { quoted, UsageError } from '../../errors/usage-error.js';
import { shown } from '../../report/text/screen.js';

export const STDOUT = '-';

export const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** Refuses, before anything is measured, a target that could not be written afterwards. */
export async function checkTarget(target: string, option: string): Promise<void> {
  if (target === STDOUT) return;
  const refuse = (why: string) =>
    new UsageError(`Expected ${option} to be a file that can be written but received ${quoted(target)}: ${why}.`);
  if (target === '') throw refuse('it is empty');
  const existing = await stat(target).catch(() => null);
  if (existing?.isDirectory() || target.endsWith('/')) throw refuse('it is a directory');
  try {
    if (existing) await access(target, constants.W_OK);
    if (existing?.isCharacterDevice()) return writeNothing(target);
    if (existing && !existing.isFile()) return;
    await probe(target);
  } catch (error) {
    throw refuse(reasonOf(error));
  }
}

/** Creates a directory for results, or refuses one in which no file could be written. Returns whether it is new. */
export async function makeDirectory(directory: string, option: string): Promise<boolean> {
  const refuse = (why: string) =>
    new UsageError(
      `Expected ${option} to be a directory that can be written but received ${quoted(directory)}: ${why}.`,
    );
  const existing = await stat(directory).catch(() => null);
  if (existing && !existing.isDirectory()) throw refuse('it is a file');
  try {
    await makePath(directory);
    await probe(join(directory, 'probe'));
    return existing === null;
  } catch (error) {
    throw refuse(reasonOf(error));
  }
}

/** Like mkdir's `recursive`, which reports a read-only file system as a missing directory (seen with Node 20). */
async function makePath(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT' || dirname(path) === path) throw error;
    await makePath(dirname(path));
    await mkdir(path);
  }
}

/** /dev/full refuses even that. */
function writeNothing(device: string): void {
  const descriptor = openSync(device, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  try {
    writeSync(descriptor, Buffer.alloc(0));
  } finally {
    closeSync(descriptor);
  }
}

async function probe(target: string): Promise<void> {
  const path = await aside(target);
  await removeAbandonedAsides(dirname(path));
  await (await open(path, 'wx')).close();
  await rm(path);
}

/** A text, in one piece or several. */
export type Text = string | readonly string[];

const chunksOf = (text: Text): readonly string[] => (typeof text === 'string' ? [text] : text);

/** Rejects with an error that names the file and the reason. */
export async function writeWhole(target: string, text: Text): Promise<void> {
  try {
    await replaceFile(target, text);
  } catch (error) {
    throw unwritable(quoted(target), error);
  }
}

/**
 * Writes a file whose name the user did not choose: refuses a symbolic link in its place, because it could point
 * anywhere.
 */
export async function writeWithoutLinks(target: string, text: Text): Promise<void> {
  if (await isLink(target)) throw unwritable(quoted(target), 'it is a symbolic link, which could point anywhere');
  await writeWhole(target, text);
}

export const isLink = (path: string): Promise<boolean> =>
  lstat(path).then(
    (found) => found.isSymbolicLink(),
    () => false,
  );

/** The error, or null: for outputs whose failure must not prevent later ones. */
export const failureOf = (writing: Promise<void>): Promise<Error | null> =>
  writing.then(
    () => null,
    (error: Error) => error,
  );

/**
 * Written to a temporary file, synced and renamed: a reader never sees half a file, and a crash leaves none under the
 * name.
 */
async function replaceFile(target: string, text: Text): Promise<void> {
  const existing = await stat(target).catch(() => null);
  // Renaming over /dev/stderr or a named pipe would replace it.
  if (existing && !existing.isFile()) return writeInto(target, text);
  const temporary = await aside(target);
  try {
    await writeInto(temporary, text, 'wx');
    await rename(temporary, await followed(target));
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

async function writeInto(path: string, text: Text, flags = 'w'): Promise<void> {
  const file = await open(path, flags);
  try {
    for (const chunk of chunksOf(text)) await file.writeFile(chunk);
    if (flags === 'wx') await file.sync();
  } finally {
    await file.close();
  }
}

/** Follows symbolic links, so that the link is kept and its target is replaced or created. */
export async function followed(target: string): Promise<string> {
  const found = await realpath(target).catch(() => null);
  if (found !== null) return found;
  const link = await readlink(target).catch(() => null);
  if (link !== null) return followed(resolve(dirname(target), link));
  const folder = await realpath(dirname(target)).catch(() => resolve(dirname(target)));
  return join(folder, basename(target));
}

async function aside(target: string): Promise<string> {
  const path = await followed(target);
  // Random, because a process may write two files of one name; opened with O_EXCL.
  return join(dirname(path), `.${basename(path)}.${ownMark()}.${randomBytes(4).toString('hex')}.tmp`);
}

const ASIDE = /^\..+\.(\d+-\d+-[0-9a-f]{12})\.[0-9a-f]{8}\.tmp$/;

/** Removes what killed processes of this machine wrote aside in that folder. */
export async function removeAbandonedAsides(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const [, mark] = ASIDE.exec(name) ?? [];
    // A failed removal is tried again at the next start.
    if (mark !== undefined && isOfEnded(mark)) await rm(join(folder, name), { force: true }).catch(() => {});
  }
}

/** Resolves once the system has accepted the text, so that exiting right after loses nothing. */
export async function writeStdout(text: Text): Promise<void> {
  for (const chunk of chunksOf(text))
    await new Promise<void>((resolve, reject) => {
      process.stdout.write(chunk, (error) => (error ? reject(unwritable('standard output', error)) : resolve()));
    });
}

/** Writes text for people: the same as `writeStdout` if the locale has UTF-8. */
export const writeText = (text: string): Promise<void> => writeStdout(shown(text));
