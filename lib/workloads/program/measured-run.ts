import type { GpuRecord } from '../round/gpu-record.js';
import type { Cooled } from '../round/health.js';
import type { Run } from './run-once.js';
import type { ServedRequests } from '../round/served-load.js';

/** A run of a program with what was seen around it. */
export interface MeasuredRun extends Run {
  cooled: Cooled;
  /** Complete once the round is over. */
  gpu: GpuRecord;
  /** Null without one. */
  load: ServedRequests | null;
}
