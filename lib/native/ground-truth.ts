/** Readings of a GPU, while others use it, from the coordinator's own NVML, which no layer intercepts. */
import type { GpuState, GpuUtilization, Target } from './addon-types.js';
import { readGpuState, readGpuUtilization } from './gpu-state.js';
import { watchXids, type Xids } from './xids.js';

export interface CardMemory {
  usedBytes: number;
  freeBytes: number;
  totalBytes: number;
}

export interface GroundTruth {
  /** Memory in bytes; null if NVML does not list the process by this PID, or does not report its memory. */
  processMemory: (pid: number) => Promise<number | null>;
  /** Memory of the card in use by all processes; null if NVML does not report it. */
  cardMemory: () => Promise<CardMemory | null>;
  /** SM clock in MHz; null if NVML does not report it. */
  smClockMhz: () => Promise<number | null>;
  /** Never used to judge a limit. `sinceMs`: by `Date.now()`; null if NVML does not report it. */
  utilization: (sinceMs: number) => Promise<GpuUtilization | null>;
  /** Read since that time of the addon's `now`. */
  xids: (sinceNs: number) => Promise<Xids>;
}

/** The source of the readings: this process's NVML, or that of a process elsewhere. */
export interface Nvml {
  state: () => Promise<GpuState | null>;
  utilization: GroundTruth['utilization'];
  xids: GroundTruth['xids'];
}

export const truthBy = ({ state, utilization, xids }: Nvml): GroundTruth => ({
  processMemory: async (pid) => {
    const { processes = null } = (await state()) ?? {};
    return processes?.find((process) => process.pid === pid)?.usedBytes ?? null;
  },
  cardMemory: async () => {
    const { usedBytes = null, freeBytes = null, totalBytes = null } = (await state()) ?? {};
    if (usedBytes === null || freeBytes === null || totalBytes === null) return null;
    return { usedBytes, freeBytes, totalBytes };
  },
  smClockMhz: async () => (await state())?.smClockMhz ?? null,
  utilization,
  xids,
});

/** Watches the GPU's errors from now on: NVML reports no earlier ones. */
export function groundTruthOf(target: Target, uuid: string): GroundTruth {
  const watch = watchXids(target, uuid);
  watch.catch(() => undefined); // `xids` rejects with it
  return truthBy({
    state: () => readGpuState(target, uuid, 'all'),
    utilization: (sinceMs) => readGpuUtilization(target, uuid, sinceMs),
    xids: async (sinceNs) => (await watch).since(sinceNs),
  });
}
