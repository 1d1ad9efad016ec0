/** Processes that use a region of the simulated GPU, as /proc shows them. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { WAIT_MS } from './limits.js';

export interface Seen {
  pid: number;
  command: string;
}

/** Processes that use the region. */
export function processesIn(region: string): Seen[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        if (!readFileSync(`/proc/${name}/environ`, 'utf8').includes(`region=${region},`)) return [];
        const state = /^State:\s+(\S)/m.exec(readFileSync(`/proc/${name}/status`, 'utf8'))?.[1];
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
        const guarded = readFileSync(`/proc/${name}/environ`, 'utf8').includes('GVB_GUARDED=1');
        return state === 'Z' ? [] : [{ pid: Number(name), command: guarded ? `target ${command}` : command }];
      } catch {
        // It has just ended.
        return [];
      }
    });
}

/** Looks every 10 ms. */
export async function until<T>(find: () => T | undefined | false, everyMs = 10): Promise<T> {
  for (const end = Date.now() + WAIT_MS; Date.now() < end; await sleep(everyMs)) {
    const found = find();
    if (found !== undefined && found !== false) return found;
  }
  throw new Error('It did not happen in time.');
}

/** Looks seldom, because it reads of every process of the machine. */
export const untilNoneIn = (region: string): Promise<boolean> => until(() => processesIn(region).length === 0, 200);
