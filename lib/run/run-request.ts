/** What a round of a system is asked for, and what it tells meanwhile. */
import type { Check, MetricResult } from '../results/document.js';
import type { MetricDefinition, Progress } from '../metrics/core/metric.js';
import type { Nvml } from '../native/ground-truth.js';
import type { System } from '../systems/system.js';
import type { Prepared, WireOptions } from './lane.js';
import type { Choice } from './plan/device.js';
import type { Plan } from './plan/plan.js';
import type { ChosenTarget } from './plan/target.js';

export interface RunRequest {
  plan: Plan;
  target: ChosenTarget;
  system: System;
  /** The value of --device; undefined lets the environment decide. */
  device: string | undefined;
  requireGpu: boolean;
  /** Options of every metric; `plan` supplies tier and seed, `device` the device. */
  options: Omit<WireOptions, 'device' | 'tier' | 'seed' | 'simulate'> & Required<Pick<WireOptions, 'path'>>;
  /** Deadline of each metric; null: the defaults. */
  timeoutSeconds: number | null;
  /** Whether to refuse a machine that is not idle, and to invalidate a disturbed number. */
  strict: boolean;
  /** Further entries for the document's plan, e.g. the measured programs. */
  recorded?: Readonly<Record<string, unknown>>;
  /** The health checks before the first measurement, if they were made already (a comparison makes them once). */
  before?: readonly Check[];
  /** NVML of the machine of the GPU, where that is another one; null: nothing reads it. Default: this process's own. */
  nvml?: Nvml | null;
  /** The smallest memory limit of the comparison's systems; null: none has one. Default: that of the system. */
  leastMemoryBytes?: number | null;
  /** Whether this is a further process of a round: only values are wanted. Default false. */
  headlineOnly?: boolean;
  signal: AbortSignal;
}

export interface RunHooks {
  /** Receives the warnings that can be given before anything is measured. */
  onPrepared: (prepared: Prepared, choice: Choice, warnings: readonly string[]) => void;
  /** What the run waits for until a worker can measure, e.g. `the worker process to start`. */
  onWaiting?: (what: string) => void;
  onMetric: (definition: MetricDefinition) => void;
  onProgress: (progress: Progress) => void;
  onResult: (result: MetricResult) => void;
  /** Receives the output of a worker and the layer in it, once the worker has ended. */
  onLog?: (text: string) => void;
  /** Called as soon as a proof fails. */
  onFailedProof?: (reason: string) => void;
}

/** Limits what a worker does before it measures, which `--timeout` bounds too. */
export const patienceOf = (
  { timeoutSeconds }: Pick<RunRequest, 'timeoutSeconds'>,
  { onWaiting }: Pick<RunHooks, 'onWaiting'>,
) => ({ patienceMs: timeoutSeconds === null ? undefined : 1_000 * timeoutSeconds, onWaiting });
