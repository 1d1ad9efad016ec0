/** How many processes memory allows at once, judged by one that was started alone. */
import { availableParallelism } from 'node:os';
import type { StartUpAnswer } from '../../workers/start-up.js';

/** What is left for others, and for what a lone process does not show. */
const GPU_SHARE = 0.9;
const HOST_SHARE = 0.8;

export interface Capacity {
  /** Infinite where neither memory's use could be told. */
  processes: number;
  limitedBy: 'GPU memory' | 'host memory';
  /** What one process takes; null where NVML cannot tell. */
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
  // By the difference around one context: what others take meanwhile is noise, and may make it meaningless.
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
