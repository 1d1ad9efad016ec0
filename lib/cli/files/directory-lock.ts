/** The lock of a result directory: only one process at a time may write to it. */
import { randomBytes } from 'node:crypto';
import { constants, rmSync } from 'node:fs';
import { copyFile, link, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ownerState, ownIdentity, type ProcessIdentity, parseIdentity } from '../../environment/process-identity.js';
import { quoted, UsageError } from '../../errors/usage-error.js';

export const LOCK = '.lock';

/** Throws UsageError if another process holds it. Returns a function that releases it. */
export async function lockDirectory(directory: string, option: string): Promise<() => Promise<void>> {
  const path = join(directory, LOCK);
  const own = ownIdentity();
  if (!(await write(path, own, put))) await takeOver(path, own, directory, option);
  // This also runs if the process exits early, because the reader of its output closed it or after a third Ctrl-C.
  const release = () => rmSync(path, { force: true });
  process.once('exit', release);
  return () => {
    process.off('exit', release);
    return rm(path, { force: true });
  };
}

/** Errors of folders without hard links: FAT, exFAT, some network and user-space file systems. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/** Puts a file under a name that no other has; where there are no hard links, in two steps. */
async function put(temporary: string, path: string): Promise<void> {
  try {
    await link(temporary, path);
  } catch (error) {
    if (!NO_LINKS.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    await copyFile(temporary, path, constants.COPYFILE_EXCL);
  }
}

/** Written under another name first, so that it is never read half-written; false if it already exists. */
async function write(path: string, owner: ProcessIdentity, into: typeof put | typeof rename): Promise<boolean> {
  const temporary = `${path}.${randomBytes(8).toString('hex')}`;
  const file = await open(temporary, 'wx');
  try {
    await file.writeFile(`${JSON.stringify(owner)}\n`);
    await into(temporary, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await file.close();
    await rm(temporary, { force: true });
  }
}

/** Several processes may find it stale at once: only the one that holds a second lock may replace it. */
async function takeOver(path: string, own: ProcessIdentity, directory: string, option: string): Promise<void> {
  const found = await ownerOf(path);
  if (!isStale(found)) throw await heldBy(path, directory, option);
  const guard = `${path}.takeover`;
  if (!(await write(guard, own, put))) throw await heldBy(guard, directory, option);
  try {
    const owner = await ownerOf(path);
    const taken = isStale(owner) && (await write(path, own, owner === 'gone' ? put : rename));
    if (!taken) throw await heldBy(path, directory, option);
  } finally {
    await rm(guard, { force: true });
  }
}

const isStale = (owner: ProcessIdentity | 'gone' | null): boolean =>
  owner === 'gone' || (owner !== null && ownerState(owner) === 'dead');

/** Null if the file names no owner. */
async function ownerOf(path: string): Promise<ProcessIdentity | 'gone' | null> {
  try {
    return parseIdentity(await readFile(path, 'utf8'));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'gone' : null;
  }
}

async function heldBy(path: string, directory: string, option: string): Promise<UsageError> {
  const owner = await ownerOf(path);
  const received = `Expected ${option} to be a directory that no other process writes but received ${quoted(directory)}`;
  if (owner === 'gone') return new UsageError(`${received}: another process has just released it; try again.`);
  if (owner === null || ownerState(owner) === 'unknown') {
    const who = owner === null ? 'an unknown process' : `PID ${owner.pid} of host ${owner.host}`;
    return new UsageError(
      `${received}: ${who} locked it, and its state cannot be checked from here; if it has ended, remove ${quoted(path)}.`,
    );
  }
  if (ownerState(owner) === 'dead')
    return new UsageError(`${received}: PID ${owner.pid} locked it and has ended; remove ${quoted(path)}.`);
  return new UsageError(
    `${received}: PID ${owner.pid} is writing to it; wait for it to end, or name another directory.`,
  );
}
