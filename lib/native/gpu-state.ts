/** The GPU as this process's NVML sees it, without a CUDA call. */
import type { GpuDetail, GpuState, Target } from './addon-types.js';
import { BenchError, fromNative } from './errors.js';
import { loadAddon } from './load.js';

/**
 * Null where there is no NVML or it knows no such GPU, and where this process has loaded the other driver (the real one
 * while the simulated one is asked for, or the other way round).
 */
export async function readGpuState(
  { simulatedDriver }: Target,
  uuid: string,
  detail: GpuDetail,
): Promise<GpuState | null> {
  try {
    return await loadAddon().gpuState({ simulatedDriver, uuid, detail });
  } catch (error) {
    const failure = fromNative(error);
    if (failure instanceof BenchError && failure.code === 'DRIVER_CONFLICT') return null;
    throw failure;
  }
}
