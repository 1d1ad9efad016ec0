/** What a monitor reports at its end. */
import type { MissingField } from './missing.js';

export interface WatchedGpu {
  /** NVML's. */
  index: number;
  uuid: string;
  name: string;
}

export interface MonitorSummary {
  /** UTC. */
  startedAt: string;
  /** Seconds from the start to the end of sampling. */
  durationS: number;
  intervalMs: number;
  simulated: boolean;
  gpus: WatchedGpu[];
  /** Samples of all GPUs together. */
  samples: number;
  /** Intervals without a sample, because reading the GPU took longer, or the machine was too busy. */
  missedIntervals: number;
  /** Samples that were taken and lost, because for 1000 intervals nothing fetched or wrote them. */
  lostSamples: number;
  /** Columns that are empty in every sample. */
  unsupported: MissingField[];
  /** Columns that are empty in some samples. */
  gaps: MissingField[];
}

/** The CSV is not complete; `cause` is why. */
export class MonitorError extends Error {
  readonly code = 'CSV_INCOMPLETE';
  /** The summary of what was sampled before. */
  readonly summary: MonitorSummary;

  constructor(cause: Error, summary: MonitorSummary) {
    super(cause.message, { cause });
    this.name = 'MonitorError';
    this.summary = summary;
  }
}
