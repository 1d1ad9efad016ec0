/** What the monitor reads of a GPU at one time. */
import { eventReasons } from '../environment/event-reasons.js';
import type { CardSample, ListedGpu, ProcessSample } from '../native/addon-types.js';

/** A process that has a context on the GPU, or worked on it in the last second. */
export interface GpuProcessSample {
  pid: number;
  /** Per cent of NVML's last sampling period in which one of its kernels ran; null if NVML lists none for it. */
  gpuPercent: number | null;
  /** Per cent of the same period in which it accessed memory. */
  memoryPercent: number | null;
  memoryUsedMib: number | null;
  /** Whether NVML lists it as a client of MPS; null if NVML has no such list, or lists no context of the process. */
  mpsClient: boolean | null;
}

/** One reading of one GPU. What NVML does not say is null, never 0. */
export interface GpuSample {
  /** Seconds since the monitor was started. */
  timeS: number;
  /** The same moment in UTC, by the clock at the start plus `timeS`. */
  time: string;
  /** The same moment on CLOCK_MONOTONIC_RAW in nanoseconds, one timebase for all processes of the machine. */
  monotonicNs: number;
  /** NVML's index. */
  gpu: number;
  uuid: string;
  simulated: boolean;
  /** Per cent of NVML's last sampling period (1/6 s to 1 s) in which a kernel ran. */
  gpuPercent: number | null;
  /** Per cent of the same period in which memory was accessed. */
  memoryPercent: number | null;
  /** Memory of all processes together, including what the driver reserves. */
  memoryUsedMib: number | null;
  memoryTotalMib: number | null;
  powerW: number | null;
  /** Since the driver was loaded. */
  energyJ: number | null;
  temperatureC: number | null;
  smClockMhz: number | null;
  memoryClockMhz: number | null;
  /** 10^6 bytes a second that the GPU received over PCIe, in 20 ms of the interval. */
  pcieRxMbS: number | null;
  /** 10^6 bytes a second that it sent. */
  pcieTxMbS: number | null;
  /** 10^6 bytes a second over all NVLinks, since the sample before; null in the first one. */
  nvlinkRxMbS: number | null;
  nvlinkTxMbS: number | null;
  /** Why the clocks are what they are, such as `idle` or `power cap`; empty if NVML names no reason. */
  clockReasons: string[] | null;
  processes: GpuProcessSample[];
}

/** When a monitor began, by both clocks. */
export interface Start {
  ns: number;
  unixMs: number;
}

const MIB = 2 ** 20;
const MEGA = 1e6;

const scaled = (value: number | null, by: number): number | null => (value === null ? null : value / by);
/** Microseconds: reading a clock takes less, a call of NVML more. */
const microseconds = (seconds: number): number => Math.round(1e6 * seconds) / 1e6;

export function sampleOf(sample: CardSample, { index, uuid, simulated }: ListedGpu, { ns, unixMs }: Start): GpuSample {
  const timeS = microseconds((sample.atNs - ns) / 1e9);
  return {
    timeS,
    time: new Date(unixMs + 1_000 * timeS).toISOString(),
    monotonicNs: sample.atNs,
    gpu: index,
    uuid,
    simulated,
    gpuPercent: sample.gpuPercent,
    memoryPercent: sample.memoryPercent,
    memoryUsedMib: scaled(sample.usedBytes, MIB),
    memoryTotalMib: scaled(sample.totalBytes, MIB),
    powerW: sample.powerW,
    energyJ: sample.energyJ,
    temperatureC: sample.temperatureC,
    smClockMhz: sample.smClockMhz,
    memoryClockMhz: sample.memoryClockMhz,
    pcieRxMbS: scaled(sample.pcieReceived, MEGA),
    pcieTxMbS: scaled(sample.pcieSent, MEGA),
    nvlinkRxMbS: scaled(sample.nvlinkReceived, MEGA),
    nvlinkTxMbS: scaled(sample.nvlinkSent, MEGA),
    clockReasons: sample.eventReasons === null ? null : eventReasons(sample.eventReasons),
    processes: sample.processes.map(processOf),
  };
}

const processOf = ({ pid, smPercent, memoryPercent, usedBytes, mpsClient }: ProcessSample): GpuProcessSample => ({
  pid,
  gpuPercent: smPercent,
  memoryPercent,
  memoryUsedMib: scaled(usedBytes, MIB),
  mpsClient,
});
