/** A run's own directory, and removal of those that killed runs left behind. */
import { constants } from 'node:fs';
import { lstat, mkdtemp, open, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ownerState, ownIdentity, type ProcessIdentity, parseIdentity } from '../../environment/process-identity.js';
import { unwritable } from '../../errors/unwritable.js';
import { quoted } from '../../errors/usage-error.js';
import { endRecordedDaemons } from '../kinds/mps/recorded-daemon.js';

/** What a directory is for: a run, what a witness saw, the counts of a program's calls, links for the loader. */
const PREFIXES = { run: 'gvb-', witness: 'gvb-witness-', calls: 'gvb-calls-', links: 'gvb-links-' } as const;
/** `mkdtemp` adds six characters. */
const OWN_NAME = /^gvb-(?:witness-|calls-|links-)?[A-Za-z0-9]{6}$/;
const OWNER_FILE = 'owner.json';
const LARGEST_OWNER_FILE = 4_096;

/** Paths below a run's directory differ in every session. */
const ownPath = /\/gvb-[A-Za-z0-9]{6}(?=[/,;:]|$)[^,;:]*/g;

/** A setting in a form that is the same in every session. */
export const lasting = (value: string): string => value.replace(ownPath, '/{runDir}');

/** Whether it only names a run's directory and says nothing about the system. */
export const isOfOneRun = (value: string): boolean => lasting(value) !== value;

/**
 * Creates a directory that records its owner, so that a later start can remove it if this process is killed. Its path is
 * absolute: processes in other working directories get it.
 */
export async function makeRunDirectory(purpose: keyof typeof PREFIXES = 'run'): Promise<string> {
  const prefix = join(resolve(tmpdir()), PREFIXES[purpose]);
  const path = await mkdtemp(prefix).catch((error: unknown) => {
    throw unwritable(quoted(`${prefix}…`), error);
  });
  const owner = join(path, OWNER_FILE);
  try {
    await writeFile(owner, JSON.stringify(ownIdentity()), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    await rm(path, { recursive: true, force: true });
    throw unwritable(quoted(owner), error);
  }
  return path;
}

/** Longer than any process takes between creating the directory and recording its owner. */
const UNNAMED_MS = 3_600_000;

/** Left by a process that was killed before it recorded itself: the directory then holds nothing else. */
async function isUnnamed(directory: string): Promise<boolean> {
  if (Date.now() - (await lstat(directory)).mtimeMs < UNNAMED_MS) return false;
  const [name, ...others] = await readdir(directory);
  if (name === undefined) return true;
  if (name !== OWNER_FILE || others.length > 0) return false;
  const file = await lstat(join(directory, name));
  return file.isFile() && file.size === 0;
}

/** Null if the file was not written by `makeRunDirectory`. */
async function ownerOf(directory: string): Promise<ProcessIdentity | null> {
  const file = await open(
    join(directory, OWNER_FILE),
    constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
  );
  try {
    const status = await file.stat();
    if (!status.isFile() || status.size > LARGEST_OWNER_FILE) return null;
    return parseIdentity(await file.readFile('utf8'));
  } finally {
    await file.close();
  }
}

async function isAbandoned(directory: string): Promise<boolean> {
  try {
    const status = await lstat(directory);
    if (!status.isDirectory() || status.uid !== process.getuid?.()) return false;
    if (await isUnnamed(directory)) return true;
    const owner = await ownerOf(directory);
    return owner !== null && ownerState(owner) === 'dead';
  } catch {
    // Removed in the meantime, unreadable or foreign: not this process's to remove.
    return false;
  }
}

/** Removes the run directories that this user's ended processes left behind; returns their paths. */
export async function removeAbandonedDirectories(): Promise<string[]> {
  const folder = resolve(tmpdir());
  const names = await readdir(folder).catch(() => [] as string[]);
  const removed: string[] = [];
  for (const directory of names.filter((name) => OWN_NAME.test(name)).map((name) => join(folder, name))) {
    if (!(await isAbandoned(directory))) continue;
    endRecordedDaemons(directory);
    // A failed removal is tried again at the next start.
    const gone = await rm(directory, { recursive: true, force: true }).then(
      () => true,
      () => false,
    );
    if (gone) removed.push(directory);
  }
  return removed;
}
