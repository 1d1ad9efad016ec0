/** Whether the machine has an NVIDIA device at all, independent of its driver. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const NVIDIA = '0x10de';

/** Null if the bus cannot be read. */
export function nvidiaOnPciBus(bus = '/sys/bus/pci/devices'): boolean | null {
  try {
    return readdirSync(bus).some((name) => readFileSync(join(bus, name, 'vendor'), 'utf8').trim() === NVIDIA);
  } catch {
    return null;
  }
}
