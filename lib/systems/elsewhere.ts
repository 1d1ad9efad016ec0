/** The GPU of a system whose processes run on another machine, as it is seen there. */
import type { GpuState, GpuUtilization, Target } from '../native/addon-types.js';
import type { Nvml } from '../native/ground-truth.js';
import type { Description } from '../workers/description.js';
import type { Worker } from '../workers/worker.js';

export interface Elsewhere {
  /** What a worker there says. */
  description: Description;
  /** UUID of the card that the system's processes get. */
  uuid: string;
  /** NVML of a process there that no layer hooks, for the card with this UUID; null: there is none. */
  nvml: ((uuid: string) => Nvml) | null;
}

const DEADLINE_MS = 30_000;

/** NVML of a worker on the machine of the card. */
export function nvmlOf(worker: Worker, target: Target, uuid: string): Nvml {
  const ask = (more: object) =>
    worker.request('cardState', { target: worker.targetIn(target), uuid, ...more }, { deadlineMs: DEADLINE_MS });
  return {
    state: async () => (await ask({})) as GpuState | null,
    utilization: async (sinceMs) => (await ask({ sinceMs })) as GpuUtilization | null,
    xids: () => Promise.resolve({ unsupported: 'errors of a GPU are not watched from another machine' }),
  };
}
