import type { GpuRecord } from '../round/gpu-record.js';
import type { Cooled } from '../round/health.js';
import type { Run } from './run-once.js';
import type { ServedRequests } from '../round/served-load.js';

/** A run of a program with what was seen around it. */
export interface MeasuredRun extends Run {
  cooled: Cooled;
  /** What the monitor recorded, complete once the round is over. */
  gpu: GpuRecord;
  /** The requests of the run's load; null without one. */
  load: ServedRequests | null;
}
