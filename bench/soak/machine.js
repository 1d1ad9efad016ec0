// What a soak leaves on the machine: files, shared memory, processes.
import { readdirSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { markedProcesses } from '../children.js';

/** In the environment of every process of a soak. */
export const MARK = 'GVB_SOAK';
/** Processes that are about to end get so long. */
const SETTLING_MS = 10_000;
const LOOK_MS = 50;

const entries = (folder) => readdirSync(folder, { recursive: true }).length;

/** Regions of the simulated card have the soak's id in their names; other programs of the machine have objects too. */
const OURS = /^(gvb-(?!sim-)|nccl|cuda)/;
const objectsOf = (id) => readdirSync('/dev/shm').filter((name) => OURS.test(name) || name.includes(id)).length;

const processesOf = (id, known) => markedProcesses(`${MARK}=${id}`).filter(({ pid }) => !known.includes(pid)).length;

/** `known`: PIDs that are meant to run. */
export async function leftOnMachine({ id, temporary, results, known }) {
  const until = performance.now() + SETTLING_MS;
  while (processesOf(id, known) > 0 && performance.now() < until) await setTimeout(LOOK_MS);
  return {
    temporaryFiles: entries(temporary),
    resultFiles: entries(results),
    sharedMemory: objectsOf(id),
    processes: processesOf(id, known),
  };
}
