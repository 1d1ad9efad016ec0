/** What libgvb-witness.so wrote: the mapped files of every process that it was loaded into, at its start and at its exit. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mappedFiles } from '../systems/ld-preload.js';
import type { SeenProcess } from './seen-process.js';

const MOST_RECORDS = 4_000;

export interface Witness {
  /** The environment with the variables that load the witness. */
  variables: (environment: NodeJS.ProcessEnv) => NodeJS.ProcessEnv;
  /** To be read when all processes have ended. */
  seen: () => Promise<SeenProcess[]>;
  remove: () => Promise<void>;
}

/** The loader takes no path with a space or a colon. Processes are then only seen from outside. */
export const canPreload = (library: string): boolean => !/[\s:]/.test(library);

export async function witnessOf(library: string | null): Promise<Witness | null> {
  if (library === null || !canPreload(library)) return null;
  const folder = await mkdtemp(join(tmpdir(), 'gvb-witness-'));
  return {
    variables: (environment) => ({
      ...environment,
      // Behind the layer, which must meet the program first.
      LD_PRELOAD: environment.LD_PRELOAD ? `${environment.LD_PRELOAD}:${library}` : library,
      GVB_WITNESS: folder,
    }),
    seen: () => seenIn(folder),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** One entry for each process, with the files that were mapped at any moment, also before it became another program by exec. */
async function seenIn(folder: string): Promise<SeenProcess[]> {
  const names = (await readdir(folder)).filter((name) => /^\d+-\d+\.(start|exit)$/.test(name)).sort();
  const byStart = new Map<string, SeenProcess>();
  for (const name of names.slice(0, MOST_RECORDS)) {
    const files = mappedFiles(await readFile(join(folder, name), 'latin1'));
    const [key = ''] = name.split('.');
    const before = byStart.get(key);
    const pid = Number(key.split('-')[0]);
    byStart.set(key, {
      pid,
      // The first file of a map is the program.
      name: before?.name ?? files[0]?.split('/').at(-1) ?? 'unknown',
      files: [...new Set([...(before?.files ?? []), ...files])],
      isElsewhere: false,
    });
  }
  return [...byStart.values()].filter(({ files }) => files.length > 0);
}
