/** Which GPU a run measures. */
import type { Inspection, NativeDevice } from '../native/addon-types.js';
import { quoted, UsageError } from './usage-error.js';

export interface Choice {
  device: NativeDevice;
  /** Who chose it, in words, for the line that says so. */
  because: string;
}

/** `requested` is --device; else the first entry of the caller's CUDA_VISIBLE_DEVICES decides, else the first GPU. */
export function chooseDevice(
  { devices, simulated }: Pick<Inspection, 'devices' | 'simulated'>,
  requested: string | undefined,
  visible: string | undefined,
): Choice {
  if (requested !== undefined) {
    const device = find(devices, requested);
    if (device) return { device, because: '--device' };
    throw new UsageError(`Expected --device to be ${describeChoices(devices)} but received ${quoted(requested)}.`);
  }
  const entry = visible?.split(',')[0]?.trim();
  if (!entry) return { device: first(devices), because: 'the first GPU' };
  const device = find(devices, entry) ?? onlyOne(devices);

  if (device) return { device, because: `CUDA_VISIBLE_DEVICES=${visible}` };
  // It names the machine's own GPUs, which the simulation does not have.
  if (simulated) return { device: first(devices), because: 'the first GPU' };
  throw new UsageError(
    `Expected CUDA_VISIBLE_DEVICES to begin with ${describeChoices(devices)} but received '${visible}': choose with --device.`,
  );
}

function find(devices: readonly NativeDevice[], name: string): NativeDevice | undefined {
  if (/^\d+$/.test(name)) return devices.find(({ index }) => index === Number(name));
  // The driver accepts any unambiguous beginning of a UUID; so does this.
  const matches = devices.filter(({ uuid }) => uuid.toLowerCase().startsWith(name.toLowerCase()));
  return name.length > 'GPU-'.length && matches.length === 1 ? matches[0] : undefined;
}

/** A MIG instance is named in CUDA_VISIBLE_DEVICES by a UUID that NVML's list of GPUs does not show. */
const onlyOne = (devices: readonly NativeDevice[]) => (devices.length === 1 ? devices[0] : undefined);

function first(devices: readonly NativeDevice[]): NativeDevice {
  const device = devices[0];
  if (!device) throw new Error('The driver lists no GPU: gpu-virt-bench doctor says why.');
  return device;
}

function describeChoices(devices: readonly NativeDevice[]): string {
  const indexes = devices.map(({ index }) => index);
  const last = Math.max(...indexes);
  const list = devices.length === 1 ? `${last}` : `an index from ${Math.min(...indexes)} to ${last}`;
  return devices.length === 0
    ? 'a GPU of this machine (the driver lists none)'
    : `${list} or a UUID of this machine's GPUs`;
}
