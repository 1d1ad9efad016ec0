/** Which driver and device a request means. */
import type { ApplicationPath } from '../document.js';

/** `simulatedDriver`: folder of the simulated libraries, or null for the machine's own driver. */
export interface Target {
  simulatedDriver: string | null;
}

export interface DeviceTarget extends Target {
  /** NVML index, UUID or its unambiguous beginning, or null for the first visible GPU. */
  device: number | string | null;
  path: ApplicationPath;
}
