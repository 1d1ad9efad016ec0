/** Chooses the GPU that a run measures. */
import { BenchError } from '../../errors/bench-error.js';
import type { NativeDevice } from '../../native/addon-types.js';
import { describeGpus, findGpu } from '../../environment/named-gpu.js';
import { quoted, UsageError } from '../../errors/usage-error.js';
import { CudaError } from '../../native/errors.js';

export interface Choice {
  device: NativeDevice;
  /** The source of the choice, for the line that reports it. */
  because: string;
}

/**
 * Chooses the GPU. `requested` is --device; without it the first GPU is taken that the driver lists, which
 * CUDA_VISIBLE_DEVICES has already filtered.
 */
export function chooseDevice(
  devices: readonly NativeDevice[],
  requested: string | undefined,
  visible: string | undefined,
): Choice {
  if (requested !== undefined) {
    const device = findGpu(devices, requested);
    if (device) return { device, because: '--device' };
    throw new UsageError(`Expected --device to be ${describeGpus(devices)} but received ${quoted(requested)}.`);
  }
  const device = devices[0];
  if (device) return { device, because: visible !== undefined ? `CUDA_VISIBLE_DEVICES=${visible}` : 'the first GPU' };
  if (visible === undefined)
    throw new BenchError('NO_SUCH_DEVICE', 'The driver lists no GPU: gpu-virt-bench doctor says why.');
  throw namesNoGpu(visible);
}

const namesNoGpu = (visible: string): UsageError =>
  new UsageError(
    `Expected CUDA_VISIBLE_DEVICES to name a GPU of this machine but received ${quoted(visible)}: name one by index or UUID, or unset it.`,
  );

const NO_DEVICE = 100;

/**
 * Explains an error where CUDA_VISIBLE_DEVICES hides all GPUs: the driver then fails in cuInit, before anything can be
 * listed.
 */
export function hiddenGpusOr(error: unknown, visible: string | undefined): unknown {
  const isHidden = visible !== undefined && error instanceof CudaError && error.code === NO_DEVICE;
  return isHidden ? namesNoGpu(visible) : error;
}
