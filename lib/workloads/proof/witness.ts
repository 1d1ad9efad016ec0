/**
 * What libgvb-witness.so wrote: the files that were mapped in every process that it was loaded into, at its start, and the
 * libraries that were loaded at its exit or at that of a forked child, with the owners of the driver's functions.
 */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { whyUnreadable } from '../../errors/unreadable.js';
import { bytesOf, UnreadableError } from '../../saved/regular-file.js';
import { mappedFiles } from '../../systems/proof/ld-preload.js';
import { loaderPath } from '../../systems/process/loader-path.js';
import { makeRunDirectory } from '../../systems/process/run-directory.js';
import { readOwners } from './driver-owners.js';
import type { SeenProcess } from './seen-process.js';

const MOST_RECORDS = 4_000;
/** A program of thousands of libraries has 2 MB of maps. */
const MOST_RECORD_BYTES = 2 ** 26;

export interface Witnessed {
  processes: SeenProcess[];
  /** Number of records beyond the first 4000. */
  unread: number;
  /** Which of the files could be a layer, where they are not on this machine. */
  hooking?: readonly string[];
  /** Why not everything could be looked at; null: nothing was in the way. */
  failed: string | null;
}

export interface Witness {
  /** Adds the variables that load the witness to an environment. */
  variables: (environment: NodeJS.ProcessEnv) => NodeJS.ProcessEnv;
  /** Reads the records, once all processes have ended. */
  seen: () => Promise<Witnessed>;
  remove: () => Promise<void>;
}

export async function witnessOf(library: string | null): Promise<Witness | null> {
  if (library === null) return null;
  const preload = await loaderPath(library);
  const folder = await makeRunDirectory('witness');
  return {
    variables: (environment) => ({
      ...environment,
      // Behind the layer, which must meet the program first.
      LD_PRELOAD: environment.LD_PRELOAD ? `${environment.LD_PRELOAD}:${preload}` : preload,
      GVB_WITNESS: folder,
    }),
    seen: () => seenIn(folder),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/**
 * Reads the records: one for each program that a process was, with the files that were mapped at its start and its
 * exit. The program can write to them: what cannot be read is no error, and leaves the proof open.
 */
export async function seenIn(folder: string): Promise<Witnessed> {
  let names: string[] = [];
  const seen: SeenProcess[] = [];
  let failed: string | null = null;
  try {
    names = (await readdir(folder)).filter((name) => /^\d+-\d+\.maps$/.test(name)).sort();
  } catch (error) {
    // Whatever cleans up the folder of temporary files may have removed it, or the program itself.
    failed = `the folder of the records of its processes cannot be read: ${whyUnreadable(error)}`;
  }
  for (const name of names.slice(0, MOST_RECORDS)) {
    let record: string;
    try {
      record = (await bytesOf(join(folder, name), MOST_RECORD_BYTES)).toString('latin1');
    } catch (error) {
      if (!(error instanceof UnreadableError)) throw error;
      failed ??= `the record ${name} of a process cannot be read: ${error.why}`;
      continue;
    }
    const [maps = ''] = record.split('\0', 1);
    const atStart = mappedFiles(maps);
    const lines = record.slice(maps.length).match(/[/>][^\0\n]*(?=\n)/g) ?? [];
    seen.push({
      pid: Number(name.split('-')[0]),
      // The first file of a map is the program.
      name: atStart[0]?.split('/').at(-1) ?? 'unknown',
      files: [...new Set([...atStart, ...lines.filter((line) => line.startsWith('/'))])],
      isElsewhere: false,
      owners: readOwners(lines),
    });
  }
  return {
    processes: seen.filter(({ files }) => files.length > 0),
    unread: Math.max(0, names.length - MOST_RECORDS),
    failed,
  };
}
