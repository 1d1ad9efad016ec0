/** One process at a time writes into a directory of results. */
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { link, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import {
  ownerState,
  ownIdentity,
  type ProcessIdentity,
  processIdentitySchema,
} from '../environment/process-identity.js';
import { quoted, UsageError } from '../errors/usage-error.js';

export const LOCK = '.lock';

/** Throws UsageError where another process holds it. Returns a function that releases it. */
export async function lockDirectory(directory: string, option: string): Promise<() => Promise<void>> {
  const path = join(directory, LOCK);
  const own = ownIdentity();
  if (!(await create(path, own))) {
    await removeStale(path, directory, option);
    if (!(await create(path, own))) throw await heldBy(path, directory, option);
  }
  // Also where the process exits early: the reader of its output has closed it, or a third Ctrl-C.
  const release = () => rmSync(path, { force: true });
  process.once('exit', release);
  return () => {
    process.off('exit', release);
    return rm(path, { force: true });
  };
}

/** Written under another name and linked, so that it is never read half-written; false where there is a lock. */
async function create(path: string, owner: ProcessIdentity): Promise<boolean> {
  const temporary = aside(path);
  const file = await open(temporary, 'wx');
  try {
    await file.writeFile(`${JSON.stringify(owner)}\n`);
    await link(temporary, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await file.close();
    await rm(temporary, { force: true });
  }
}

const aside = (path: string): string => `${path}.${randomBytes(8).toString('hex')}`;

/** Two processes may find it stale at once: each moves it away and checks what it moved. */
async function removeStale(path: string, directory: string, option: string): Promise<void> {
  const owner = await ownerOf(path);
  if (owner === 'gone') return;
  if (owner === null || ownerState(owner) !== 'dead') throw await heldBy(path, directory, option);
  const moved = aside(path);
  const wasThere = await rename(path, moved).then(
    () => true,
    () => false,
  );
  if (!wasThere) return;
  const found = await ownerOf(moved);
  // Another process took it over in between: restore its lock.
  if (JSON.stringify(found) !== JSON.stringify(owner)) await link(moved, path).catch(() => {});
  await rm(moved, { force: true });
}

/** Null where the file does not name an owner. */
async function ownerOf(path: string): Promise<ProcessIdentity | 'gone' | null> {
  try {
    const found: unknown = JSON.parse(await readFile(path, 'utf8'));
    return v.is(processIdentitySchema, found) ? found : null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'gone' : null;
  }
}

async function heldBy(path: string, directory: string, option: string): Promise<UsageError> {
  const owner = await ownerOf(path);
  const received = `Expected ${option} to be a directory that no other process writes but received ${quoted(directory)}`;
  if (owner === 'gone') return new UsageError(`${received}: another process has just ended with it; try again.`);
  if (owner === null || ownerState(owner) === 'unknown') {
    const who = owner === null ? 'an unknown process' : `PID ${owner.pid} of host ${owner.host}`;
    return new UsageError(
      `${received}: ${who} locked it, which cannot be seen from here; if that has ended, remove ${quoted(path)}.`,
    );
  }
  return new UsageError(`${received}: PID ${owner.pid} does; wait for it, or name another directory.`);
}
