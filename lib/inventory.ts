/** Lists devices, driver functions with their owners, and metrics. */
import type { FunctionProvenance, GpuInfo } from './results/document.js';
import { expected } from './errors/expected.js';
import { checkOptions, type Known } from './errors/known-options.js';
import { gpuInfo } from './environment/gpu.js';
import type { MetricInfo } from './metrics/core/metric.js';
import { listed } from './metrics/listed.js';
import type { NativeAddon, Target } from './native/addon-types.js';
import { CudaError, fromNative } from './native/errors.js';
import { loadAddon, simulatedDriver } from './native/load.js';
import { functionProvenance } from './systems/proof/interception.js';

export interface InventoryOptions {
  /** Look at the simulated GPU instead of the machine's own driver. Default false. */
  simulate?: boolean;
}

const known: Known<InventoryOptions> = { simulate: true };

async function ask<T>(options: InventoryOptions, question: (addon: NativeAddon, target: Target) => Promise<T>) {
  checkOptions(options, known);
  const { simulate = false } = options;
  if (typeof simulate !== 'boolean') throw expected('simulate', 'true or false', simulate, TypeError);
  try {
    return await question(loadAddon(), { simulatedDriver: simulatedDriver(simulate) });
  } catch (error) {
    throw fromNative(error);
  }
}

/**
 * The GPUs that this process can use. Initialises the driver, creates no context. Rejects like the `measure…`
 * functions.
 *
 * @example
 * ```ts
 * import { getProvenance, listDevices } from 'gpu-virt-bench';
 *
 * for (const { index, name, uuid } of await listDevices()) console.log(index, name, uuid);
 * for (const { name, interposed } of await getProvenance()) if (interposed.length > 0) console.log(name, interposed);
 * ```
 */
export async function listDevices(options: InventoryOptions = {}): Promise<GpuInfo[]> {
  const inspection = await ask(options, (addon, target) => addon.inspect(target));
  const { cuda } = inspection;
  if (cuda) throw new CudaError(cuda.code, cuda.name, cuda.call, 'listing devices');
  return inspection.devices.map((device) => gpuInfo(inspection, device));
}

/** The file that owns each driver function on each symbol path, and the paths on which that is not the driver. */
export async function getProvenance(options: InventoryOptions = {}): Promise<FunctionProvenance[]> {
  return functionProvenance(await ask(options, (addon, target) => addon.provenance(target)));
}

/** Definitions of all metrics, in id order. Needs neither addon nor driver. */
export function listMetrics(): MetricInfo[] {
  return structuredClone([...listed]);
}
