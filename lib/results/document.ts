/**
 * The result documents: one schema, from which the TypeScript types and the shipped JSON Schema both come.
 * A number in a document is finite or null; NaN never appears.
 */
import * as v from 'valibot';
import { MOST_BLOCKS } from '../stats/blocks.js';
import { gpuPricesSchema, rankingSchema } from './cost-schemas.js';

export const SCHEMA_VERSION = 2;

/** Stands for a value that is secret. */
export const NOT_RECORDED = '(not recorded)';

const finite = v.pipe(v.number(), v.finite());
const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const interval = v.nullable(v.tuple([finite, finite]));

export const statusSchema = v.picklist(['ok', 'unsupported', 'invalid', 'failed']);

export const statsSchema = v.strictObject({
  /** Number of samples (not of processes). */
  count,
  mean: finite,
  stddev: v.nullable(finite),
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

export const checkSchema = v.strictObject({
  name: v.string(),
  passed: v.union([v.boolean(), v.literal('not checked')]),
  detail: v.string(),
});

/**
 * `OH-001` of this tool's own metrics; of a program NAME/METRIC, with the parameters of a matrix NAME@a=1,b=2/METRIC.
 */
const metricId = /^(?:[A-Z]+-\d{3}|[A-Za-z0-9][\w.+-]{0,39}(?:@[\w.+=,-]{1,120})?\/[A-Za-z0-9][\w.-]{0,79})$/;

export const metricResultSchema = v.strictObject({
  id: v.pipe(v.string(), v.regex(metricId)),
  name: v.string(),
  category: v.string(),
  unit: v.string(),
  direction: v.picklist(['lower', 'higher', 'none']),
  status: statusSchema,
  reason: v.optional(v.string()),
  /** In `unit`; always the absolute term of the metric, never a difference to another run. Null unless status is ok. */
  value: v.nullable(finite),
  estimator: v.string(),
  ci95: interval,
  ciScope: v.picklist(['within-process', 'between-processes']),
  processes: count,
  /** Wall time, with the start of its processes. Absent of a metric that was not run, and from the first documents. */
  durationMs: v.optional(v.pipe(finite, v.minValue(0))),
  stats: v.nullable(statsSchema),
  /**
   * In `unit`: medians of consecutive blocks of the samples behind `value`, in the order they were measured. Present
   * exactly where status is ok and there were samples.
   */
  blocks: v.optional(v.pipe(v.array(finite), v.maxLength(MOST_BLOCKS))),
  samples: v.optional(v.array(finite)),
  details: v.record(v.string(), v.unknown()),
  checks: v.array(checkSchema),
  /** Limits that it showed not to hold; absent where it showed none. */
  violations: v.optional(v.array(v.strictObject({ detail: v.string() }))),
});

export const gpuSchema = v.strictObject({
  index: count,
  uuid: v.string(),
  name: v.string(),
  simulated: v.boolean(),
  memoryBytes: count,
  computeCapability: v.string(),
  multiprocessors: count,
  /** As NVML has it. Absent from the first documents of this schema. */
  maxSmClockMhz: v.optional(v.nullable(count)),
  pciBusId: v.nullable(v.string()),
  migMode: v.picklist(['enabled', 'disabled', 'not supported']),
  persistenceMode: v.nullable(v.boolean()),
  computeMode: v.nullable(v.picklist(['default', 'exclusive-thread', 'prohibited', 'exclusive-process'])),
  mpsClient: v.nullable(v.boolean()),
});

export const hostSchema = v.strictObject({
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

export const driverSchema = v.strictObject({
  /** Version of the kernel driver as NVML says it, e.g. 580.159.04. */
  version: v.nullable(v.string()),
  /** CUDA version of the user-mode driver as cuDriverGetVersion says it, e.g. 13000. */
  cudaVersion: v.nullable(count),
  libcuda: v.nullable(v.string()),
  libnvidiaMl: v.nullable(v.string()),
  /** Set if libcuda.so.1 is not the driver: the library that replaces it, and the driver behind it if one is mapped. */
  replaced: v.optional(v.strictObject({ by: v.string(), driver: v.nullable(v.string()), reason: v.string() })),
});

export const layerSchema = v.strictObject({
  path: v.string(),
  sha256: v.nullable(v.string()),
  /** How many symbols beginning with `cu` it exports. */
  exports: count,
  /** Whether it owns at least one driver function, on at least one symbol path, or one of NVML. */
  active: v.boolean(),
});

export const provenanceSchema = v.strictObject({
  name: v.string(),
  /** Per symbol path: the object that owns the address, or null where the path does not resolve. */
  paths: v.strictObject({
    runtime: v.nullable(v.string()),
    dlsym: v.nullable(v.string()),
    linked: v.nullable(v.string()),
    bare: v.nullable(v.string()),
  }),
  interposed: v.array(v.picklist(['runtime', 'dlsym', 'linked'])),
  /**
   * Where the driver's code in memory is not what its file holds: the bytes it begins with, hexadecimal, and the object
   * that a jump there leads to. This intercepts on every symbol path and shows in no pointer.
   */
  patched: v.optional(v.strictObject({ bytes: v.string(), owner: v.nullable(v.string()) })),
});

const column = v.array(v.nullable(finite));

/** What the coordinator read through NVML while the metrics ran; columns of equal length. */
export const samplerSchema = v.strictObject({
  source: v.literal('nvml'),
  intervalMs: count,
  /** From the first reading. */
  timeMs: v.array(finite),
  /** Per cent of NVML's own sampling period in which a kernel ran, or memory was accessed. */
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

export const healthSchema = v.strictObject({
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
  /** Of a round in a merged comparison: where it is from. Rounds of one place ran beside each other; absent, the n-th did. */
  session: v.optional(v.strictObject({ document: count, round: count })),
  /** Of a round in a comparison that --resume continued: it was measured before that. */
  reused: v.optional(v.literal(true)),
  host: hostSchema,
  gpu: v.array(gpuSchema),
  driver: driverSchema,
  groundTruth: v.picklist(['nvml', 'none']),
  pidMapping: v.picklist(['same', 'difference', 'none']),
  system: v.strictObject({
    name: v.string(),
    kind: v.string(),
    /** False of a custom system without proofs, which is shown as `NAME (unverified)`; absent of all others. */
    verified: v.optional(v.literal(false)),
    settings: v.record(v.string(), v.string()),
    /** As `--system` takes it; absent where only a file, or no system at all, was named. */
    spec: v.optional(v.string()),
    layer: v.optional(layerSchema),
    attestation: v.array(v.strictObject({ proof: v.string(), passed: v.boolean(), detail: v.string() })),
    /** Why the proofs could not be repeated in every worker after it measured; absent where they were, or none was tried. */
    notCheckedAfter: v.optional(v.string()),
    /**
     * Of the processes that gave numbers (workers, tenants and fresh processes): how many were shown to be under the
     * system, each by proofs of its own. Absent from the first documents of this schema.
     */
    processes: v.optional(v.strictObject({ proven: count, of: count })),
  }),
  plan: v.strictObject({
    tier: v.picklist(['quick', 'standard', 'thorough']),
    metrics: v.array(v.string()),
    rounds: count,
    seed: count,
    device: count,
    path: v.picklist(['runtime', 'dlsym', 'linked']),
    options: v.record(v.string(), v.unknown()),
  }),
  provenance: v.array(provenanceSchema),
  metrics: v.array(metricResultSchema),
  health: healthSchema,
  /** Of one core: what the coordinating process used while the metrics ran. */
  coordinatorCpuPercent: finite,
  /** Absent where NVML could not be read. */
  sampler: v.optional(samplerSchema),
  warnings: v.array(v.string()),
});

const verdictSchema = v.picklist(['faster', 'slower', 'same', 'inconclusive', 'invalid']);

export const effectSchema = v.strictObject({
  metric: v.string(),
  system: v.string(),
  baseline: v.string(),
  /** Rounds in which both arms were ok. */
  rounds: count,
  /** Oriented: above 1 is worse in the metric's direction. Null where values may be zero or negative. */
  ratio: v.nullable(finite),
  ratioCi95: interval,
  /** System − baseline in the metric's unit, signed. */
  difference: v.nullable(finite),
  differenceCi95: interval,
  /**
   * From a hierarchical bootstrap over rounds and blocks, seeded with the plan's seed: on the scale of `ratio` where the
   * metric's δ is relative and all values are positive, else on that of `difference`. Null below 10 rounds. It stands
   * beside the t intervals above, of which one decides the verdict.
   */
  bootstrapCi95: interval,
  /** After Holm's adjustment over all effects of the document. */
  verdict: verdictSchema,
  verdictRaw: verdictSchema,
  /** Two-sided, on rounds; given in addition to the interval, which decides. */
  pValues: v.strictObject({ welch: v.nullable(finite), mannWhitney: v.nullable(finite) }),
  reason: v.optional(v.string()),
});

/** What one driver call costs under a system: through the application's pointer less through the driver's own. */
export const callEffectSchema = v.strictObject({
  metric: v.string(),
  system: v.string(),
  /** The driver function, or how it was called. */
  call: v.string(),
  /** The object that a program calls. */
  owner: v.nullable(v.string()),
  /** Whether the two pointers differ, in any round. If they do not, the overhead is the error of the measurement. */
  intercepted: v.boolean(),
  /** Symbol paths on which the layer owns it; null of a function whose owners are not listed. */
  interceptedOn: v.nullable(v.array(v.picklist(['runtime', 'dlsym', 'linked']))),
  /** Rounds that measured it. */
  rounds: count,
  /** Mean over rounds of each round's median pair, signed. */
  overheadNs: finite,
  overheadCi95: interval,
  /** The driver's own call: median over rounds. */
  bareNs: finite,
  /** Against zero, after Holm's adjustment over the calls of the metric in this system. */
  verdict: verdictSchema,
  verdictRaw: verdictSchema,
});

/** What interception costs a program, by its call profile: a sum over its calls, in one phase. */
export const programCostSchema = v.strictObject({
  system: v.string(),
  /** Name of the profile. */
  profile: v.string(),
  phase: v.string(),
  /** Steps in the phase; null where the profile does not say, and the phase counts as one. */
  steps: v.nullable(count),
  /** As it was recorded, counting included. */
  stepUs: finite,
  callsPerStep: finite,
  /** That measured prices. */
  rounds: count,
  /** Mean over rounds of each round's sum; null where no call has a price. */
  taxUs: v.nullable(finite),
  ci95: interval,
  /** Of the step. */
  percent: v.nullable(finite),
  percentCi95: interval,
  /** That have a price: which metric measured it, and what they add up to in a step. Largest first. */
  calls: v.array(
    v.strictObject({
      call: v.string(),
      metric: v.string(),
      /** The price is of these arguments, e.g. `cuMemAlloc_v2 of 2 MiB, 16 live`; absent where it is of any. */
      as: v.optional(v.string()),
      callsPerStep: finite,
      priceNs: finite,
      taxUs: finite,
    }),
  ),
  /** That have none, and are in no sum. Most frequent first. */
  missing: v.array(v.strictObject({ call: v.string(), callsPerStep: finite, reason: v.string() })),
});

export const computeLimitSchema = v.strictObject({
  system: v.string(),
  /** As configured: per cent of the card's time. */
  limitPercent: finite,
  label: v.picklist(['throttled', 'not throttled', 'not checked']),
  /** Share of time in which a load that fills the card ran, over the second half of the load. */
  achievedPercent: v.nullable(finite),
  /** The load, or why it was not run. */
  detail: v.string(),
  /** Length of one of `sharesPercent`, in milliseconds of the device's time. */
  binMs: count,
  sharesPercent: v.array(finite),
});

/** How many rounds were planned for, from the variance between the rounds of a pilot that is no part of the document. */
const detectionSchema = v.strictObject({
  /** That the rounds were to detect: 0.05 is 5 %. */
  effect: finite,
  pilotRounds: count,
  /** The limit of what could be planned. */
  mostRounds: count,
  /** Of every ratio of the pilot: the rounds that detect the effect, and the effect that they detect. */
  needs: v.array(
    v.strictObject({
      metric: v.string(),
      system: v.string(),
      /** Null where it takes more than `mostRounds`; then `detects` is what those detect. */
      rounds: v.nullable(count),
      detects: finite,
    }),
  ),
  /** The document is of the pilot itself, which was interrupted. */
  isPilot: v.optional(v.literal(true)),
});

export const comparisonDocumentSchema = v.strictObject({
  schemaVersion: v.literal(SCHEMA_VERSION),
  kind: v.literal('comparison'),
  tool: v.strictObject({ name: v.literal('gpu-virt-bench'), version: v.string() }),
  startedAt: v.pipe(v.string(), v.isoTimestamp()),
  durationMs: finite,
  completed: v.boolean(),
  plan: v.strictObject({
    tier: v.picklist(['quick', 'standard', 'thorough']),
    metrics: v.array(v.string()),
    systems: v.array(v.string()),
    rounds: count,
    seed: count,
    /** Names of the systems in the order they ran, round by round. */
    order: v.array(v.array(v.string())),
    /** The file of the systems in the directory of the results, for --config; absent where no directory was written. */
    config: v.optional(v.string()),
    /** Of --detect. */
    detect: v.optional(detectionSchema),
  }),
  /** By system, by round. */
  systems: v.array(v.array(runDocumentSchema)),
  effects: v.array(effectSchema),
  /** Of in-process pairs: see callEffectSchema. Absent from documents of schema version 1. */
  callEffects: v.optional(v.array(callEffectSchema)),
  /** Where --profile named a call profile: of every system and phase. */
  programCosts: v.optional(v.array(programCostSchema)),
  /** What a GPU hour costs, where it was given: the costs among the metrics were computed with it. */
  prices: v.optional(gpuPricesSchema),
  /** Where programs were measured: of their rates, latencies and costs. */
  rankings: v.optional(v.array(rankingSchema)),
  /** Whether the compute limits that were set show; measured once, before the rounds. They invalidate nothing. */
  computeLimits: v.array(computeLimitSchema),
  /** Limits that a metric showed not to hold. */
  violations: v.array(v.strictObject({ system: v.string(), metric: v.string(), detail: v.string() })),
  warnings: v.array(v.string()),
});

export type Effect = v.InferOutput<typeof effectSchema>;
export type ProgramCost = v.InferOutput<typeof programCostSchema>;
export type CallEffect = v.InferOutput<typeof callEffectSchema>;
export type ComparisonDocument = v.InferOutput<typeof comparisonDocumentSchema>;
export type HealthReport = v.InferOutput<typeof healthSchema>;
export type Status = v.InferOutput<typeof statusSchema>;
export type Stats = v.InferOutput<typeof statsSchema>;
export type Check = v.InferOutput<typeof checkSchema>;
export type MetricResult = v.InferOutput<typeof metricResultSchema>;
export type GpuInfo = v.InferOutput<typeof gpuSchema>;
export type HostInfo = v.InferOutput<typeof hostSchema>;
export type DriverInfo = v.InferOutput<typeof driverSchema>;
export type LayerInfo = v.InferOutput<typeof layerSchema>;
export type FunctionProvenance = v.InferOutput<typeof provenanceSchema>;
export type RunDocument = v.InferOutput<typeof runDocumentSchema>;
export type SymbolPath = keyof FunctionProvenance['paths'];
/** The paths an application can meet; `bare` is the reference and never measured alone. */
export type ApplicationPath = Exclude<SymbolPath, 'bare'>;
export type Tier = RunDocument['plan']['tier'];
