/** The definition of a metric, its options, and the context that it measures in. */
import type { ApplicationPath, Check, MetricResult, Tier } from '../results/document.js';
import type { NativeDevice } from '../native/addon-types.js';
import type { GroundTruth } from '../native/ground-truth.js';
import type { Session } from '../native/session.js';
import type { Delta } from '../stats/effect.js';
import type { ProcessProofs } from '../systems/process-proofs.js';
import type { System, Tenant } from '../systems/system.js';
import type { Worker } from '../workers/worker.js';
import type { ComparedAt } from './compared-at.js';
import type { DecoderModel, WorkloadName } from './llm/workloads.js';
import type { Once } from './once.js';
import type { PerChoice } from './per.js';

export type Category = 'overhead' | 'isolation' | 'llm' | 'start-up' | 'compatibility' | 'workload';
export type Direction = MetricResult['direction'];

/** Options of every `measure…` function. All are checked; unknown ones are refused. */
export interface MeasureOptions {
  /** NVML index or UUID of the GPU. Default: the first entry of CUDA_VISIBLE_DEVICES, else 0. */
  device?: number | string;
  /** Untimed operations before the first sample of a row. */
  warmup?: number;
  /** Samples per row; OH-004 and START: fresh processes. Given, it replaces the adaptive stop. */
  iterations?: number;
  /** Adaptive stop: relative half-width of the 95 % interval to reach. Default 0.01. */
  resolution?: number;
  /** How driver functions are resolved. Default `runtime`, as the CUDA runtime does. */
  path?: ApplicationPath;
  /** Measure the simulated GPU even if a driver exists. Default false. */
  simulate?: boolean;
  /** Put the raw samples into the result. Default false. */
  samples?: boolean;
  /** Budget of time and samples. Default `quick`. */
  tier?: Tier;
  /** Seed of every random choice. Default: drawn and recorded. */
  seed?: number;
  /** LLM-004: batch and lengths, T1 to T6. Default `T2`: one sequence, a prompt of 512 tokens and 128 more. */
  workload?: WorkloadName;
  /** LLM-004: sizes of its decoder. Default: scaled to the memory limit. */
  model?: DecoderModel;
  signal?: AbortSignal;
  onProgress?: (progress: Progress) => void;
}

export interface Progress {
  id: string;
  /** What is being measured, e.g. `cuLaunchKernelEx` or `2 MiB`. */
  step: string;
  /** From 0 to 1. */
  fraction: number;
}

/** Options after checking, defaults filled in. */
export interface ResolvedOptions {
  /** Null: the first visible GPU. */
  device: number | string | null;
  warmup: number | null;
  iterations: number | null;
  resolution: number;
  path: ApplicationPath;
  simulate: boolean;
  samples: boolean;
  tier: Tier;
  seed: number;
  workload: WorkloadName;
  /** Null: scaled to the memory limit. */
  model: Required<DecoderModel> | null;
}

/** What a measurement returns; defineMetric adds the definition's fields around it. */
export interface Measured {
  status?: MetricResult['status'];
  reason?: string;
  value: number | null;
  ci95: MetricResult['ci95'];
  processes?: number;
  ciScope?: MetricResult['ciScope'];
  /** Samples behind `value`, in the metric's unit. */
  headline: Float64Array | null;
  /** Their medians by block of measurement, where the samples of one share an error; default: consecutive samples. */
  blocks?: Float64Array;
  details: Record<string, unknown>;
  checks: Check[];
  /** Limits that it showed not to hold, one sentence each: what was limited to how much, and what was seen. */
  violations?: readonly string[];
}

export interface MeasureContext {
  options: ResolvedOptions;
  signal: AbortSignal;
  /** Opens the executor's device session; only `where: 'process'` metrics use it. */
  session: () => Promise<Session>;
  /** Whether the process is the tool's own worker: what may harm a host program is done only there. */
  inWorker: boolean;
  /** Whose workers and tenants a `fresh-processes` metric starts. */
  system: System;
  /**
   * Looks at a process that the metric started, once it gave its number. Rejects with INVALID_RESULT where the process was
   * not under the system. `tenant` defaults to the one whose round it is.
   */
  prove: (worker: Worker, tenant?: Tenant) => Promise<void>;
  /** Of the round: for programs that are no workers. */
  proofs: Pick<ProcessProofs, 'reference' | 'countProgram'>;
  /** The GPU that is measured, as the coordinator's driver lists it; null where no coordinator chose one. */
  card: Pick<NativeDevice, 'index' | 'uuid'> | null;
  /**
   * What the coordinator's NVML says, for judging from outside. Null where this process may see the GPU through the
   * layer: where every process is hooked, in a worker, and in a process of the library's caller.
   */
  truth: GroundTruth | null;
  simulatedDriver: string | null;
  /** Of the round; of this metric alone where there is none. */
  once: Once;
  progress: (step: string, fraction: number) => void;
  /** Notes state of a tenant that could not be removed: the result keeps its number and says so. */
  leftBehind: (what: string) => void;
}

/** A line through rows of a metric's details. */
export interface LineChart {
  title: string;
  /** The name of each axis, with its unit. */
  axes: { x: string; y: string };
  /** The array in the details, and the fields of a row that are the point. */
  rows: string;
  point: { x: string; y: string };
  /** Rows whose fields are these alone. Default: all that have both numbers of the point. */
  where?: Readonly<Record<string, string>>;
  /** Points from this x on. */
  fromX?: number;
  /** Rows with the same value of this field are one point, the median of both numbers over rounds. Default: the x. */
  by?: string;
}

export interface MetricDefinition {
  id: string;
  name: string;
  category: Category;
  unit: string;
  direction: Direction;
  /** The one-line question it answers. */
  question: string;
  estimator: string;
  /** What counts as a difference between systems: relative, or absolute in the unit where values may be ≤ 0. */
  delta: Delta;
  /** What two results must have in common to be compared, e.g. how many processes the value is of. */
  comparedAt?: ComparedAt;
  /** What it needs beyond one GPU and one process, in words; empty when nothing. */
  needs: string[];
  /** The exported library function, e.g. `measureKernelLaunch`. */
  functionName: string;
  /** `process`: in the calling process. `fresh-processes`: asks for workers, from the coordinator. */
  where: 'process' | 'fresh-processes';
  /**
   * Of a metric that is a difference to the native arm of the same round, and alone is unsupported: what an arm's details
   * contribute, and the difference in the metric's unit.
   */
  againstNative?: {
    arm: (details: MetricResult['details']) => number | null;
    difference: (system: number, native: number) => number;
  };
  /** Why a result cannot be what it says, beside the native arm's of the same round; null where it can. */
  besideNative?: (own: MetricResult, native: MetricResult) => string | null;
  /** In-process pairs: the row, or the array of rows, among its details. See call-effects.ts for its fields. */
  pairs?: string;
  /** What the metric's difference to the baseline is the cost of, in a person's words, e.g. `cuInit`. */
  costOf?: string;
  /** What it counts by where its unit does not say it; see per.ts. */
  per?: PerChoice;
  /** It raises errors on the card: it runs after all others of a round, whatever their order. */
  runsLast?: true;
  /** Line charts of its details, one line a system. */
  lineCharts?: readonly LineChart[];
  /** Rough wall time at each tier on a real GPU, in seconds, for the plan. */
  seconds: Record<Tier, number>;
  /** Of what it starts each has a time limit of its own, and these together are this. Default: from `seconds`. */
  deadlineSeconds?: number;
  measure: (context: MeasureContext) => Promise<Measured>;
}

/** Why there is no number. */
export const withoutNumber = (
  status: Exclude<MetricResult['status'], 'ok'>,
  reason: string,
  details: Record<string, unknown> = {},
): Measured => ({ status, reason, value: null, ci95: null, headline: null, details, checks: [] });

/** What this machine or system cannot give. */
export const unsupported = (reason: string, details?: Record<string, unknown>): Measured =>
  withoutNumber('unsupported', reason, details);

/** The fields of a definition that every result of it carries. */
export function resultHead({ id, name, category, unit, direction, estimator }: MetricDefinition) {
  return { id, name, category, unit, direction, estimator };
}

/** What the first check that failed makes of a result. */
export function invalidBy(checks: readonly Check[]): Pick<Measured, 'status' | 'reason'> {
  const failed = checks.find(({ passed }) => passed === false);
  return failed ? { status: 'invalid', reason: `${failed.name}: ${failed.detail}` } : {};
}
