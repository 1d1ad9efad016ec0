/** Bits of nvmlDeviceGetCurrentClocksEventReasons (NVML API reference, group NvmlClocksEventReasons). */

const GPU_IDLE = 0x01;

/** Those that mean the card was held back; idle and a user's own settings do not. */
const SLOWDOWNS: readonly [bit: number, name: string][] = [
  [0x04, 'power cap'],
  [0x08, 'hardware slowdown'],
  [0x20, 'thermal slowdown (software)'],
  [0x40, 'thermal slowdown (hardware)'],
  [0x80, 'power brake'],
];

/** Names of the slowdowns in any of the masks. */
export const slowdowns = (masks: readonly number[]): string[] =>
  SLOWDOWNS.filter(([bit]) => masks.some((mask) => (mask & bit) !== 0)).map(([, name]) => name);

export const isIdle = (mask: number): boolean => (mask & GPU_IDLE) !== 0;
