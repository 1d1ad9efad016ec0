/** What NVML says of a GPU. */

/** What changes all the time, and is cheap to ask for (the rest is null); or all of it. */
export type GpuDetail = 'readings' | 'all';

/** What NVML says of a GPU; null where it does not. */
export interface GpuState {
  smClockMhz: number | null;
  maxSmClockMhz: number | null;
  memoryClockMhz: number | null;
  temperatureC: number | null;
  powerW: number | null;
  performanceState: number | null;
  persistenceMode: boolean | null;
  /** Bits of nvmlDeviceGetCurrentClocksEventReasons. */
  eventReasons: number | null;
  /** Per cent of NVML's last sampling period in which a kernel ran, or memory was accessed. */
  gpuPercent: number | null;
  memoryPercent: number | null;
  usedBytes: number | null;
  freeBytes: number | null;
  totalBytes: number | null;
  processes: { pid: number; usedBytes: number | null }[] | null;
}
