/** Finds state that a layer keeps in undocumented places: files that appeared around the start of a process. */
import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { mappedFiles } from '../proof/ld-preload.js';

const places = ['/dev/shm', '/tmp'];

export type Snapshot = ReadonlySet<string>;

export async function snapshot(folders: readonly string[] = places): Promise<Snapshot> {
  const lists = await Promise.all(
    folders.map(async (folder) => (await names(folder)).map((name) => join(folder, name))),
  );
  return new Set(lists.flat());
}

interface Discovered {
  /** New since the snapshot, and mapped or open in the process: the layer's own. */
  held: string[];
  /** New since the snapshot, with an unknown owner, so they are only reported. */
  unclaimed: string[];
}

export async function discover(
  before: Snapshot,
  pid: number,
  folders: readonly string[] = places,
): Promise<Discovered> {
  const appeared = [...(await snapshot(folders))].filter((path) => !before.has(path));
  const holds = await heldFiles(pid);
  const isHeld = (path: string) => holds.has(path);
  return { held: appeared.filter(isHeld), unclaimed: appeared.filter((path) => !isHeld(path)) };
}

/** Empty if the process is in another PID namespace or belongs to another user. */
async function heldFiles(pid: number): Promise<Set<string>> {
  const maps = await readFile(`/proc/${pid}/maps`, 'utf8').catch(() => '');
  const folder = `/proc/${pid}/fd`;
  const open = (await names(folder)).map((name) => readlink(join(folder, name)).catch(() => ''));
  return new Set([...mappedFiles(maps), ...(await Promise.all(open))]);
}

const names = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);
