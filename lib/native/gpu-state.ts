/** The GPU as this process's NVML sees it, without a CUDA call. */
import type { GpuDetail, GpuState, GpuUtilization, Target } from './addon-types.js';
import { BenchError } from '../errors/bench-error.js';
import { fromNative } from './errors.js';
import { loadAddon } from './load.js';

/**
 * Null if there is no NVML, it knows no such GPU, or this process has loaded the other driver (the real instead of the
 * simulated one, or vice versa).
 */
export const readGpuState = ({ simulatedDriver }: Target, uuid: string, detail: GpuDetail): Promise<GpuState | null> =>
  unlessConflict(loadAddon().gpuState({ simulatedDriver, uuid, detail }));

/** Like `readGpuState`. `sinceMs`, by `Date.now()`: older samples of processes are left out. */
export const readGpuUtilization = (
  { simulatedDriver }: Target,
  uuid: string,
  sinceMs: number,
): Promise<GpuUtilization | null> =>
  unlessConflict(loadAddon().gpuUtilization({ simulatedDriver, uuid, sinceUs: 1_000 * sinceMs }));

async function unlessConflict<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    const failure = fromNative(error);
    if (failure instanceof BenchError && failure.code === 'DRIVER_CONFLICT') return null;
    throw failure;
  }
}
