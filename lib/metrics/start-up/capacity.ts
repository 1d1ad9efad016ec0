/** How many processes fit into memory at once, estimated from one that was started alone. */
import { availableParallelism } from 'node:os';
import type { StartUpAnswer } from '../../workers/start-up.js';

/** The rest is for others, and for memory use that a single process does not show. */
const GPU_SHARE = 0.9;
const HOST_SHARE = 0.8;

export interface Capacity {
  /** Infinite if the use of neither memory is known. */
  processes: number;
  limitedBy: 'GPU memory' | 'host memory';
  /** Use of one process; null if NVML does not report it. */
  gpuBytesEach: number | null;
  hostBytesEach: number;
  cores: number;
}

const fitting = (available: number, each: number, share: number): number =>
  each > 0 ? Math.floor((share * available) / each) : Number.POSITIVE_INFINITY;

export function capacityBy(
  { gpuFreeDuringBytes, gpuFreeAfterBytes, peakRssBytes }: StartUpAnswer,
  hostBytes = process.availableMemory(),
): Capacity {
  const known = gpuFreeDuringBytes !== null && gpuFreeAfterBytes !== null;
  // The difference around one context. Allocations of other processes in between are noise and can make it meaningless.
  const gpuBytesEach = known ? Math.max(0, gpuFreeAfterBytes - gpuFreeDuringBytes) : null;
  const onGpu = fitting(gpuFreeAfterBytes ?? 0, gpuBytesEach ?? 0, GPU_SHARE);
  const onHost = fitting(hostBytes, peakRssBytes, HOST_SHARE);
  return {
    processes: Math.min(onGpu, onHost),
    limitedBy: onGpu < onHost ? 'GPU memory' : 'host memory',
    gpuBytesEach,
    hostBytesEach: peakRssBytes,
    cores: availableParallelism(),
  };
}
