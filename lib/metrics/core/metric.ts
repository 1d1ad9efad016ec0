/** The definition of a metric, its options, and the context in which it measures. */
import type { ApplicationPath, Check, MetricResult, ResultWithoutNumber, Tier } from '../../results/document.js';
import type { NativeDevice } from '../../native/addon-types.js';
import type { GroundTruth } from '../../native/ground-truth.js';
import type { Session } from '../../native/session.js';
import type { Delta, ValueKind } from '../../stats/rule/effect.js';
import type { ProcessProofs } from '../../systems/proof/process-proofs.js';
import type { System, Tenant } from '../../systems/system.js';
import type { Spares } from '../tenants/spares.js';
import type { Worker } from '../../workers/worker.js';
import type { ComparedAt } from './compared-at.js';
import type { DetailsSchema } from './details.js';
import type { DecoderModel, WorkloadName } from '../llm/workloads.js';
import type { Once } from './once.js';
import type { PerChoice } from './per.js';

export type Category =
  | 'overhead'
  | 'isolation'
  | 'llm'
  | 'bandwidth'
  | 'cache'
  | 'pcie'
  | 'nccl'
  | 'scheduling'
  | 'fragmentation'
  | 'error-recovery'
  | 'start-up'
  | 'checkpoint'
  | 'compatibility'
  | 'workload';
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
  /** Fraction done, from 0 to 1. */
  fraction: number;
  /** What keeps it waiting and may need the user. */
  warning?: string;
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

/** Fields of a measurement; `measureMetric` adds those of the definition. */
interface MeasuredFields {
  status?: MetricResult['status'];
  reason?: string;
  value: number | null;
  ci95: MetricResult['ci95'];
  /** Why there is no interval, where `headline` does not show it. */
  noInterval?: string;
  processes?: number;
  ciScope?: MetricResult['ciScope'];
  /** Samples behind `value`, in the metric's unit. */
  headline: Float64Array | null;
  /** Their medians by block of measurement, if the samples of a block share an error; default: consecutive samples. */
  blocks?: Float64Array;
  checks: Check[];
  /** Limits that were shown not to hold, one sentence each: what was limited to how much, and what was observed. */
  violations?: readonly string[];
}

/** A measurement without a number, and what was found until then. */
export interface MeasuredNothing<Details> extends MeasuredFields {
  status: ResultWithoutNumber['status'];
  value: null;
  details: Details;
}

/** What a measurement returns: all details of the metric, or those that were found if it has no number. */
export type Measured<Details = Record<string, unknown>> =
  (MeasuredFields & { details: Details }) | MeasuredNothing<Partial<Details>>;

export interface MeasureContext {
  options: ResolvedOptions;
  signal: AbortSignal;
  /** Opens the executor's device session; only `where: 'process'` metrics use it. */
  session: () => Promise<Session>;
  /** Whether the process is the tool's own worker: only there may a metric do what could harm a host program. */
  inWorker: boolean;
  /** Whether this is a further process of a round: only the value is wanted, no other rows or pairs. */
  headlineOnly: boolean;
  /** Processes to start, planned for this round; null: the metric's own number. */
  plannedProcesses: number | null;
  /** The system whose workers and tenants a `fresh-processes` metric starts. */
  system: System;
  /** The smallest memory limit among the systems of the comparison, so that all measure the same size; null: none. */
  leastMemoryBytes: number | null;
  /**
   * Proves a process that the metric started, after it gave its number. Rejects with INVALID_RESULT if the process was
   * not under the system. `tenant` defaults to the one whose round it is.
   */
  prove: (worker: Worker, tenant?: Tenant) => Promise<void>;
  /** The round's proofs, for programs that are not workers. */
  proofs: Pick<ProcessProofs, 'reference' | 'countProgram'>;
  /** The measured GPU as the coordinator's driver lists it; null if no coordinator chose one. */
  card: Pick<NativeDevice, 'index' | 'uuid'> | null;
  /** The GPUs for metrics of several, the measured one first; null: all that are visible. */
  cards: readonly Pick<NativeDevice, 'index' | 'uuid'>[] | null;
  /**
   * Readings of the coordinator's NVML, for checks from outside. Null if this process may see the GPU through the
   * layer: if every process is hooked, in a worker, and in a process of the library's caller.
   */
  truth: GroundTruth | null;
  simulatedDriver: string | null;
  /** The round's; this metric's own if there is no round. */
  once: Once;
  /** Processes of the round that wait to be tenants; null if there is no round. */
  spares: Spares | null;
  progress: (step: string, fraction: number, warning?: string) => void;
  /** Records state of a tenant that could not be removed: the result keeps its number and says so. */
  leftBehind: (what: string) => void;
}

/**
 * Default: linear, from 0. `log`: equal ratios are equally far apart, and points at 0 or below are left out; `bytes`: the
 * same with labels such as 64 KiB.
 */
export interface AxisScales {
  x?: 'log' | 'bytes';
  y?: 'log';
}

/** A line through rows of a metric's details. */
export interface LineChart {
  title: string;
  /** The name of each axis, with its unit. */
  axes: { x: string; y: string };
  scales?: AxisScales;
  /** The array in the details, and the fields of a row that give the point. */
  rows: string;
  point: { x: string; y: string };
  /** Only rows with these field values. Default: all rows with both numbers of the point. */
  where?: Readonly<Record<string, string | number>>;
  /** Points from this x on. */
  fromX?: number;
  /**
   * Rows with the same value of this field become one point, the median of both numbers over rounds. Default: the x.
   */
  by?: string;
  /**
   * A line a + b·x that the metric fitted to these points, drawn in place of lines between them: the array in the details,
   * the field of a row that holds the fit, the fields of that with a and b, and the rows it applies to.
   */
  fit?: { rows: string; field: string; a: string; b: string; where: Readonly<Record<string, string | number>> };
  /**
   * What y would be if x went by at a rate, drawn across the chart: the object in the details that has the rate, its
   * field, and how many x one of the rate's units is for each y.
   */
  rate?: { name: string; unit: string; object: string; field: string; perUnit: number };
}

/** A metric that a round of a comparison measures in more than one process, and how. */
interface FurtherProcesses {
  /** Rough wall time of each on a real GPU without the start of a worker, in seconds. */
  seconds: number;
  /**
   * How many the metric starts itself without a plan. Absent: each is a worker of the round, in which the metric measures
   * what its value needs and no more (`headlineOnly`).
   */
  startedItself?: Readonly<Record<Tier, number>>;
  /** The reason of a result that is invalid because the machine disturbed this one process. */
  disturbed?: RegExp;
}

/** What a metric is, as `listMetrics` and `list` give it. */
export interface MetricInfo {
  id: string;
  name: string;
  category: Category;
  unit: string;
  direction: Direction;
  /** The one-line question it answers. */
  question: string;
  estimator: string;
  /** The smallest difference that counts: relative, or absolute in the unit if values may be ≤ 0. */
  delta: Delta;
  /** How its values vary from round to round. Default: `continuous`. */
  values?: ValueKind;
  /** What it needs beyond one GPU and one process, as text; empty if nothing. */
  needs: string[];
  /** The exported library function, e.g. `measureKernelLaunch`. */
  functionName: string;
  /** `process`: in the calling process. `fresh-processes`: in workers, which the coordinator starts. */
  where: 'process' | 'fresh-processes';
  /** The operation whose cost is the metric's difference from the baseline, in terms for users, e.g. `cuInit`. */
  costOf?: string;
  /** Metrics of phases that it contains; if their effects explain its own, a report states the cause once. */
  contains?: readonly string[];
  /** What the metric counts, if its unit does not say so; see per.ts. */
  per?: PerChoice;
  /** Why samples of an undisturbed measurement differ: their variation is then not checked. */
  variesBecause?: string;
  /** Rough wall time at each tier on a real GPU, in seconds, for the plan. */
  seconds: Record<Tier, number>;
}

export interface MetricDefinition<Details = Record<string, unknown>> extends MetricInfo {
  /** A condition that two results must share to be compared, e.g. the number of processes. */
  comparedAt?: ComparedAt;
  /**
   * For a metric that is a difference from native in the same round, and `unsupported` alone: finds the value in an
   * arm's details, and computes the difference in the metric's unit.
   */
  againstNative?: {
    arm: (details: MetricResult['details']) => number | null;
    difference: (system: number, native: number) => number;
  };
  /** Why a result is impossible given native's result of the same round; null if it is possible. */
  besideNative?: (own: MetricResult, native: MetricResult) => string | null;
  /** Why a result, of a saved document too, cannot be what it says; null where it can. */
  impossible?: (own: Pick<MetricResult, 'value' | 'unit' | 'details'>) => string | null;
  /** In-process pairs: the row, or the array of rows, among its details. See call-effects.ts for its fields. */
  pairs?: string;
  /** The metric raises errors on the card, so it runs after all others of a round. */
  runsLast?: true;
  /** Line charts of its details, one line per system. */
  lineCharts?: readonly LineChart[];
  /** What its results have beside their value. */
  details?: DetailsSchema<Details>;
  /** The sum of the time limits of everything that it starts. Default: from `seconds`. */
  deadlineSeconds?: number;
  /** Only where a process's own level is much of the variance between rounds. Default: one process. */
  furtherProcesses?: FurtherProcesses;
  measure: (context: MeasureContext) => Promise<Measured<Details>>;
}

/** The reason for a missing number. */
export const withoutNumber = <Details = Record<never, never>>(
  status: ResultWithoutNumber['status'],
  reason: string,
  details: Details = {} as Details,
): MeasuredNothing<Details> => ({ status, reason, value: null, ci95: null, headline: null, details, checks: [] });

/** Something that this machine or system does not support. */
export const unsupported = <Details = Record<never, never>>(
  reason: string,
  details?: Details,
): MeasuredNothing<Details> => withoutNumber('unsupported', reason, details);

/** The fields of a definition that every result of it carries. */
export function resultHead({ id, name, category, unit, direction, estimator }: MetricDefinition) {
  return { id, name, category, unit, direction, estimator };
}

/** The status of a result according to its first failed check. */
export function invalidBy(checks: readonly Check[]): Pick<Measured, 'status' | 'reason'> {
  const failed = checks.find(({ passed }) => passed === false);
  return failed ? { status: 'invalid', reason: `${failed.name}: ${failed.detail}` } : {};
}
