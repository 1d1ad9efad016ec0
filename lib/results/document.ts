/**
 * The result documents: one schema, from which the TypeScript types and the shipped JSON Schema both come.
 * A number in a document is finite or null; NaN never appears.
 */
import * as v from 'valibot';
import { MOST_BLOCKS } from '../stats/blocks.js';
import { answerSchema } from './answer-schema.js';
import { gpuPricesSchema, rankingSchema } from './cost-schemas.js';
import { purposeNames } from './text/purpose-names.js';

export const SCHEMA_VERSION = 3;

/** Replaces a secret value. */
export const NOT_RECORDED = '(not recorded)';

const finite = v.pipe(v.number(), v.finite());
const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const interval = v.nullable(v.tuple([finite, finite]));

const statsSchema = v.strictObject({
  /** Number of samples (not of processes). */
  count,
  /**
   * The number of independent samples that would say as much about their level: fewer than `count` if samples of the
   * process depend on each other. With fewer than 10 there is no interval. Absent for values of separate processes, and
   * in older documents.
   */
  effectiveSamples: v.optional(v.pipe(finite, v.minValue(0))),
  mean: finite,
  stddev: v.nullable(finite),
  /** Null if a sample is 0 or negative: relative to a mean near 0 it says nothing. */
  cv: v.nullable(finite),
  mad: finite,
  min: finite,
  p50: finite,
  /** Percentiles are null below their sample floor: p90 29, p95 59, p99 299, p99.9 2 995. */
  p90: v.nullable(finite),
  p95: v.nullable(finite),
  p99: v.nullable(finite),
  p999: v.nullable(finite),
  max: finite,
  /** Tukey's fences at 1.5 and 3 interquartile ranges; counted, never dropped. */
  outliers: v.strictObject({ mild: count, severe: count }),
});

const checkSchema = v.strictObject({
  name: v.string(),
  passed: v.union([v.boolean(), v.literal('not checked')]),
  detail: v.string(),
});

/**
 * `OH-001` of this tool's own metrics; of a program NAME/METRIC, with the parameters of a matrix NAME@a=1,b=2/METRIC; of a
 * scene NAME/TENANT/METRIC, NAME/TENANT/METRIC/alone and NAME/TENANT/METRIC/slowdown.
 */
const metricId = /^(?:[A-Z]+-\d{3}|[A-Za-z0-9][\w.+-]{0,39}(?:@[\w.+=,-]{1,120})?(?:\/[A-Za-z0-9][\w.-]{0,79}){1,3})$/;

/** The fields of every result, for one without a number. */
const fieldsWithoutNumber = {
  id: v.pipe(v.string(), v.regex(metricId)),
  name: v.string(),
  category: v.string(),
  unit: v.string(),
  direction: v.picklist(['lower', 'higher', 'none']),
  status: v.picklist(['unsupported', 'invalid', 'failed']),
  /** Why there is no number. */
  reason: v.string(),
  value: v.null(),
  estimator: v.string(),
  ci95: v.null(),
  /** Why there is a value and no interval, where the samples are the reason. */
  noInterval: v.optional(v.string()),
  ciScope: v.picklist(['within-process', 'between-processes']),
  processes: count,
  /**
   * The value in each process, in the order of measurement, if a round's plan gave the metric several: `value` is their
   * geometric mean, or their mean if one is not above 0. Absent otherwise.
   */
  processValues: v.optional(v.array(finite)),
  /**
   * Wall time, including the start of its processes. Absent for metrics that were not run, and in the first documents.
   */
  durationMs: v.optional(v.pipe(finite, v.minValue(0))),
  stats: v.null(),
  /**
   * Medians, in `unit`, of consecutive blocks of the samples behind `value`, in the order of measurement. Present
   * exactly if status is ok and there were samples.
   */
  blocks: v.optional(v.pipe(v.array(finite), v.maxLength(MOST_BLOCKS))),
  samples: v.optional(v.array(finite)),
  details: v.record(v.string(), v.unknown()),
  checks: v.array(checkSchema),
  /** Limits that were shown not to hold; absent if there are none. */
  violations: v.optional(v.array(v.strictObject({ detail: v.string() }))),
};

const okSchema = v.strictObject({
  ...fieldsWithoutNumber,
  status: v.literal('ok'),
  reason: v.optional(v.string()),
  /** The metric's own value in `unit`, never a difference from another run. */
  value: finite,
  ci95: interval,
  stats: v.nullable(statsSchema),
});

const withoutNumberSchema = v.strictObject(fieldsWithoutNumber);

type Fields<Schema extends v.GenericSchema> = Omit<v.InferOutput<Schema>, 'details'>;

export type OkResult<Details = Record<string, unknown>> = Fields<typeof okSchema> & { details: Details };

/** A result without a number, with those of the details that were found. */
export type ResultWithoutNumber<Details = Record<string, unknown>> = Fields<typeof withoutNumberSchema> & {
  details: Partial<Details>;
};

/** The result of a metric: `value` is a number if `status` is `ok`; otherwise `reason` says why there is none. */
export type MetricResult<Details = Record<string, unknown>> = OkResult<Details> | ResultWithoutNumber<Details>;

export const metricResultSchema: v.GenericSchema<MetricResult> = v.variant('status', [okSchema, withoutNumberSchema]);

export const gpuSchema = v.strictObject({
  index: count,
  uuid: v.string(),
  name: v.string(),
  simulated: v.boolean(),
  memoryBytes: count,
  computeCapability: v.string(),
  multiprocessors: count,
  /** Reported by NVML. Absent in the first documents of this schema. */
  maxSmClockMhz: v.optional(v.nullable(count)),
  pciBusId: v.nullable(v.string()),
  migMode: v.picklist(['enabled', 'disabled', 'not supported']),
  persistenceMode: v.nullable(v.boolean()),
  computeMode: v.nullable(v.picklist(['default', 'exclusive-thread', 'prohibited', 'exclusive-process'])),
  mpsClient: v.nullable(v.boolean()),
});

const hostSchema = v.strictObject({
  platform: v.string(),
  arch: v.string(),
  kernel: v.string(),
  cpu: v.string(),
  cores: count,
  usableCores: count,
  memoryBytes: count,
  node: v.string(),
  container: v.boolean(),
});

const driverSchema = v.strictObject({
  /** Version of the kernel driver as NVML reports it, e.g. 580.159.04. */
  version: v.nullable(v.string()),
  /** CUDA version of the user-mode driver as cuDriverGetVersion reports it, e.g. 13000. */
  cudaVersion: v.nullable(count),
  libcuda: v.nullable(v.string()),
  libnvidiaMl: v.nullable(v.string()),
  /** Set if libcuda.so.1 is not the driver: the library that replaces it, and the driver behind it if one is mapped. */
  replaced: v.optional(v.strictObject({ by: v.string(), driver: v.nullable(v.string()), reason: v.string() })),
});

const layerSchema = v.strictObject({
  path: v.string(),
  sha256: v.nullable(v.string()),
  /** How many symbols beginning with `cu` it exports. */
  exports: count,
  /** Whether it owns at least one driver function on a symbol path, or one of NVML's. */
  active: v.boolean(),
});

const provenanceSchema = v.strictObject({
  name: v.string(),
  /** The object that owns the address on each symbol path; null if the path does not resolve. */
  paths: v.strictObject({
    runtime: v.nullable(v.string()),
    dlsym: v.nullable(v.string()),
    linked: v.nullable(v.string()),
    bare: v.nullable(v.string()),
  }),
  interposed: v.array(v.picklist(['runtime', 'dlsym', 'linked'])),
  /**
   * Set if the driver's code in memory differs from its file: its first bytes, hexadecimal, and the object that a jump
   * there leads to. Such a patch intercepts every symbol path and changes no pointer.
   */
  patched: v.optional(v.strictObject({ bytes: v.string(), owner: v.nullable(v.string()) })),
});

const column = v.array(v.nullable(finite));

/** What the coordinator read through NVML while the metrics ran; columns of equal length. */
const samplerSchema = v.strictObject({
  source: v.literal('nvml'),
  intervalMs: count,
  /** Time since the first reading. */
  timeMs: v.array(finite),
  /** Percentage of NVML's own sampling period in which a kernel ran, or memory was accessed. */
  gpuPercent: column,
  memoryPercent: column,
  usedBytes: column,
  temperatureC: column,
  powerW: column,
  smClockMhz: column,
  memoryClockMhz: column,
  /** Bits of nvmlDeviceGetCurrentClocksEventReasons. */
  eventReasons: column,
});

const healthSchema = v.strictObject({
  /** The machine before the first measurement. */
  before: v.array(checkSchema),
  /** What disturbed the measurements, over all metrics. */
  after: v.array(checkSchema),
});

export const runDocumentSchema = v.strictObject({
  schemaVersion: v.literal(SCHEMA_VERSION),
  kind: v.literal('run'),
  tool: v.strictObject({ name: v.literal('gpu-virt-bench'), version: v.string() }),
  startedAt: v.pipe(v.string(), v.isoTimestamp()),
  durationMs: finite,
  completed: v.boolean(),
  /**
   * The origin of a round of a merged comparison. Rounds with the same origin were measured together; without origins,
   * the n-th rounds were.
   */
  session: v.optional(v.strictObject({ document: count, round: count })),
  /** Set for rounds that were measured before --resume continued the comparison. */
  reused: v.optional(v.literal(true)),
  host: hostSchema,
  gpu: v.array(gpuSchema),
  driver: driverSchema,
  groundTruth: v.picklist(['nvml', 'none']),
  pidMapping: v.picklist(['same', 'difference', 'none']),
  system: v.strictObject({
    name: v.string(),
    kind: v.string(),
    /** False for a custom system without proofs, shown as `NAME (unverified)`; absent for all others. */
    verified: v.optional(v.literal(false)),
    settings: v.record(v.string(), v.string()),
    /** The argument of `--system`; absent if a file, or no system, was named. */
    spec: v.optional(v.string()),
    layer: v.optional(layerSchema),
    attestation: v.array(v.strictObject({ proof: v.string(), passed: v.boolean(), detail: v.string() })),
    /**
     * Why the proofs could not be repeated in every worker after measuring; absent if they were, or none was attempted.
     */
    notCheckedAfter: v.optional(v.string()),
    /**
     * Processes that gave numbers (workers, tenants and fresh processes), and how many of them their own proofs showed
     * to be under the system. Absent in the first documents of this schema.
     */
    processes: v.optional(v.strictObject({ proven: count, of: count })),
  }),
  plan: v.strictObject({
    tier: v.picklist(['quick', 'standard', 'thorough']),
    /** Set by --for. */
    purpose: v.optional(v.picklist(purposeNames)),
    metrics: v.array(v.string()),
    /** Processes that a round gives a metric, where the plan gives it more than its own. */
    processes: v.optional(v.record(v.string(), count)),
    rounds: count,
    seed: count,
    device: count,
    path: v.picklist(['runtime', 'dlsym', 'linked']),
    options: v.record(v.string(), v.unknown()),
  }),
  provenance: v.array(provenanceSchema),
  metrics: v.array(metricResultSchema),
  health: healthSchema,
  /** The coordinating process's use of one core while the metrics ran. */
  coordinatorCpuPercent: finite,
  /** Absent if NVML could not be read. */
  sampler: v.optional(samplerSchema),
  warnings: v.array(v.string()),
});

const verdictSchema = v.picklist(['faster', 'slower', 'same', 'inconclusive', 'invalid']);

const effectSchema = v.strictObject({
  metric: v.string(),
  system: v.string(),
  baseline: v.string(),
  /** Rounds in which both systems' results were ok. */
  rounds: count,
  /** Oriented: above 1 is worse in the metric's direction. Null if values may be zero or negative. */
  ratio: v.nullable(finite),
  /** Inside ±δ, the 90 % interval shows that the effect is too small to count; see `relevance`. */
  ratioCi90: interval,
  ratioCi95: interval,
  /** System − baseline in the metric's unit, signed. */
  difference: v.nullable(finite),
  differenceCi90: interval,
  differenceCi95: interval,
  /** Two-sided p of no difference, by the model of the intervals; null if it could not be tested. */
  p: v.nullable(finite),
  /**
   * Standard deviations between rounds of the system and of the baseline, of logarithms where there is a ratio; null with
   * one round.
   */
  betweenRounds: v.nullable(v.tuple([finite, finite])),
  /** Rank test of the rounds, given in addition; it decides nothing. */
  pMannWhitney: v.nullable(finite),
  /**
   * Whether a difference is shown, even one that is too small to count. Of the `slower` and `faster` of one system, at most
   * 5 % are expected to be false.
   */
  established: v.boolean(),
  /**
   * `within`: shown to be smaller than δ. `beyond`: the whole 95 % interval lies beyond δ. `straddles`: perhaps too small
   * to count. Null without an interval.
   */
  relevance: v.nullable(v.picklist(['within', 'beyond', 'straddles'])),
  /** `same` if `relevance` is `within`; else `slower` or `faster` if established; else `inconclusive`. */
  verdict: verdictSchema,
  /**
   * Estimated rounds after which the verdict is no longer inconclusive, with a probability of 80 % if the estimates so far
   * are right. Null if it is decided, cannot be estimated or needs more than 500.
   */
  roundsNeeded: v.nullable(count),
  /** Set for values that do not vary, such as counts: they are compared as values and are in no family. */
  exact: v.optional(v.literal(true)),
  reason: v.optional(v.string()),
});

/** The cost of one driver call under a system: through the application's pointer minus through the driver's own. */
const callEffectSchema = v.strictObject({
  metric: v.string(),
  system: v.string(),
  /** The driver function, or the way to call it. */
  call: v.string(),
  /** The object whose function a program calls. */
  owner: v.nullable(v.string()),
  /** Whether the two pointers differ in any round. If not, the overhead is measurement error. */
  intercepted: v.boolean(),
  /** Symbol paths on which the layer owns it; null for a function whose owners are not listed. */
  interceptedOn: v.nullable(v.array(v.picklist(['runtime', 'dlsym', 'linked']))),
  /** Rounds that measured it. */
  rounds: count,
  /** Mean over rounds of each round's median pair, signed. */
  overheadNs: finite,
  overheadCi95: interval,
  /** The same of each round's mean difference without the lowest and highest hundredth of the pairs: rare stalls count. */
  trimmed: v.optional(v.strictObject({ overheadNs: finite, overheadCi95: interval })),
  /** Cost of the driver's own call: median over rounds. */
  bareNs: finite,
  /** Two-sided p of no cost; null if it could not be tested. */
  p: v.nullable(finite),
  /** Against zero: `slower` or `faster` if a cost is shown, with all calls of the system as one family. */
  verdict: verdictSchema,
});

/** The cost of interception for a program, from its call profile: a sum over its calls in one phase. */
const programCostSchema = v.strictObject({
  system: v.string(),
  /** Name of the profile. */
  profile: v.string(),
  phase: v.string(),
  /** Steps in the phase; null if the profile does not say, and the phase counts as one step. */
  steps: v.nullable(count),
  /** Duration of a step as recorded, with counting. */
  stepUs: finite,
  callsPerStep: finite,
  /** Rounds that measured prices. */
  rounds: count,
  /** Mean over rounds of each round's sum; null if no call has a price. */
  taxUs: v.nullable(finite),
  ci95: interval,
  /** Percentage of the step's duration. */
  percent: v.nullable(finite),
  percentCi95: interval,
  /** Calls with a price: the metric that measured it, and their total per step. Largest first. */
  calls: v.array(
    v.strictObject({
      call: v.string(),
      metric: v.string(),
      /** The arguments that the price is for, e.g. `cuMemAlloc_v2 of 2 MiB, 16 live`; absent if it is for any. */
      as: v.optional(v.string()),
      callsPerStep: finite,
      priceNs: finite,
      taxUs: finite,
    }),
  ),
  /** Calls without a price, which are in no sum. Most frequent first. */
  missing: v.array(v.strictObject({ call: v.string(), callsPerStep: finite, reason: v.string() })),
});

const computeLimitSchema = v.strictObject({
  system: v.string(),
  /** The configured limit, in per cent of the card's time. */
  limitPercent: finite,
  label: v.picklist(['throttled', 'not throttled', 'not checked']),
  /** Share of time during which a load that fills the card ran, over the second half of the load. */
  achievedPercent: v.nullable(finite),
  /** A description of the load, or why it was not run. */
  detail: v.string(),
  /** Length of one bin of `sharesPercent`, in milliseconds of the device's time. */
  binMs: count,
  sharesPercent: v.array(finite),
});

/** How many rounds were planned, from the variance between the rounds of a pilot that is not part of the document. */
const detectionSchema = v.strictObject({
  /** The effect to detect: 0.05 is 5 %. */
  effect: finite,
  pilotRounds: count,
  /** The largest number of rounds that could be planned. */
  mostRounds: count,
  /** The rounds that detect the effect, and the effect that they detect, for every ratio of the pilot. */
  needs: v.array(
    v.strictObject({
      metric: v.string(),
      system: v.string(),
      /** Null if it takes more than `mostRounds`; `detects` is then what those rounds detect. */
      rounds: v.nullable(count),
      detects: finite,
    }),
  ),
  /** Set if this is the document of the pilot itself, which was interrupted. */
  isPilot: v.optional(v.literal(true)),
});

export const comparisonDocumentSchema = v.strictObject({
  schemaVersion: v.literal(SCHEMA_VERSION),
  kind: v.literal('comparison'),
  tool: v.strictObject({ name: v.literal('gpu-virt-bench'), version: v.string() }),
  startedAt: v.pipe(v.string(), v.isoTimestamp()),
  durationMs: finite,
  completed: v.boolean(),
  /** Set if it ended before its last round because fewer than two systems were left to compare. */
  stopped: v.optional(v.strictObject({ because: v.picklist(['missing', 'not active']), detail: v.string() })),
  plan: v.strictObject({
    tier: v.picklist(['quick', 'standard', 'thorough']),
    /** Set by --for. */
    purpose: v.optional(v.picklist(purposeNames)),
    metrics: v.array(v.string()),
    systems: v.array(v.string()),
    rounds: count,
    seed: count,
    /** Names of the systems in the order they ran, round by round. */
    order: v.array(v.array(v.string())),
    /** The file of the systems in the results directory, for --config; absent if no directory was written. */
    config: v.optional(v.string()),
    /** Set by --detect. */
    detect: v.optional(detectionSchema),
  }),
  /** Documents by system, then by round. */
  systems: v.array(v.array(runDocumentSchema)),
  /** Effects of every system against the first one. */
  effects: v.array(effectSchema),
  /** Effects of every other system against those before it, in the same form: `baseline` is the other system. */
  pairs: v.array(effectSchema),
  /** The schema version of the document from whose rounds today's rules computed these effects; absent if it is this one. */
  rejudgedFrom: v.optional(count),
  /** Effects from in-process pairs: see callEffectSchema. Absent in documents of schema version 1. */
  callEffects: v.optional(v.array(callEffectSchema)),
  /** Set if --profile named a call profile: for every system and phase. */
  programCosts: v.optional(v.array(programCostSchema)),
  /** What a GPU hour costs, where it was given: the costs among the metrics were computed with it. */
  prices: v.optional(gpuPricesSchema),
  /** Where programs were measured: of their rates, latencies and costs. */
  rankings: v.optional(v.array(rankingSchema)),
  /** Whether the compute limits that were set show; measured once, before the rounds. They invalidate nothing. */
  computeLimits: v.array(computeLimitSchema),
  /** Limits that a metric showed not to hold. */
  violations: v.array(v.strictObject({ system: v.string(), metric: v.string(), detail: v.string() })),
  /** What a reader decides from; computed again whenever the document is rendered. Absent in earlier documents. */
  answer: v.optional(answerSchema),
  warnings: v.array(v.string()),
});

export type Effect = v.InferOutput<typeof effectSchema>;
export type ProgramCost = v.InferOutput<typeof programCostSchema>;
export type CallEffect = v.InferOutput<typeof callEffectSchema>;
export type ComparisonDocument = v.InferOutput<typeof comparisonDocumentSchema>;
export type Status = MetricResult['status'];
export type Stats = v.InferOutput<typeof statsSchema>;
export type Check = v.InferOutput<typeof checkSchema>;
export type GpuInfo = v.InferOutput<typeof gpuSchema>;
export type HostInfo = v.InferOutput<typeof hostSchema>;
export type DriverInfo = v.InferOutput<typeof driverSchema>;
export type LayerInfo = v.InferOutput<typeof layerSchema>;
export type FunctionProvenance = v.InferOutput<typeof provenanceSchema>;
export type RunDocument = v.InferOutput<typeof runDocumentSchema>;
export type SymbolPath = keyof FunctionProvenance['paths'];
/** The paths that applications use; `bare` is only a reference and never measured alone. */
export type ApplicationPath = Exclude<SymbolPath, 'bare'>;
export type Tier = RunDocument['plan']['tier'];
