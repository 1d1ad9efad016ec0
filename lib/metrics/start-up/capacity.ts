/** How many processes fit into memory at once, estimated from one that was started alone. */
import { availableParallelism } from 'node:os';
import * as v from 'valibot';
import { choice, count } from '../core/details.js';
import type { StartUpAnswer } from '../../workers/start-up.js';

/** The rest is for others, and for memory use that a single process does not show. */
const GPU_SHARE = 0.9;
const HOST_SHARE = 0.8;

/** Details of a capacity. */
export const capacitySchema = v.strictObject({
  // The host's memory of a process is always known, and so it is finite.
  processes: count('Processes that fit at the same time'),
  limitedBy: choice(['GPU memory', 'host memory'], 'The memory that has room for no more'),
  gpuBytesEach: v.nullable(count('GPU memory of one process (bytes); null if NVML does not report it')),
  hostBytesEach: count('Host memory of one process (bytes)'),
  cores: count('Usable cores'),
});

export type Capacity = v.InferOutput<typeof capacitySchema>;

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
