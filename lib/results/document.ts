/**
 * The result documents: one schema, from which the TypeScript types and the shipped JSON Schema both come.
 * A number in a document is finite or null; NaN never appears.
 */
import * as v from 'valibot';
import { MOST_BLOCKS } from '../stats/blocks.js';
import { answerSchema } from './answer-schema.js';
import { gpuPricesSchema, rankingSchema } from './cost-schemas.js';
import { described, named } from './described.js';
import { purposeNames } from './text/purpose-names.js';

export const SCHEMA_VERSION = 3;

/** Replaces a secret value. */
export const NOT_RECORDED = '(not recorded)';

// Named types keep the declarations short.
const finite: v.GenericSchema<number> = v.pipe(v.number(), v.finite());
const count: v.GenericSchema<number> = v.pipe(v.number(), v.integer(), v.minValue(0));
const interval: v.GenericSchema<[number, number] | null> = v.nullable(v.tuple([finite, finite]));

const statsSchema = named(
  'Stats',
  v.strictObject({
    count: described(count, 'Number of samples (not of processes).'),
    effectiveSamples: v.optional(
      described(
        v.pipe(finite, v.minValue(0)),
        'The number of independent samples that would say as much about their level: fewer than `count` if samples of the process depend on each other. With fewer than 10 there is no interval. Absent for values of separate processes, and in older documents.',
      ),
    ),
    mean: finite,
    stddev: v.nullable(finite),
    cv: described(v.nullable(finite), 'Null if a sample is 0 or negative: relative to a mean near 0 it says nothing.'),
    mad: finite,
    min: finite,
    p50: finite,
    p90: described(
      v.nullable(finite),
      'Percentiles are null below their sample floor: p90 29, p95 59, p99 299, p99.9 2 995.',
    ),
    p95: v.nullable(finite),
    p99: v.nullable(finite),
    p999: v.nullable(finite),
    max: finite,
    outliers: described(
      v.strictObject({ mild: count, severe: count }),
      "Tukey's fences at 1.5 and 3 interquartile ranges; counted, never dropped.",
    ),
  }),
  'Statistics of the samples behind a value, in its unit.',
);

const checkSchema = named(
  'Check',
  v.strictObject({
    name: v.string(),
    passed: v.union([v.boolean(), v.literal('not checked')]),
    detail: v.string(),
  }),
  'A check of a measurement or of the machine.',
);

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
  reason: described(v.string(), 'Why there is no number.'),
  value: v.null(),
  estimator: v.string(),
  ci95: v.null(),
  noInterval: v.optional(
    described(v.string(), 'Why there is a value and no interval, where the samples are the reason.'),
  ),
  ciScope: v.picklist(['within-process', 'between-processes']),
  processes: count,
  processValues: v.optional(
    described(
      v.array(finite),
      "The value in each process, in the order of measurement, if a round's plan gave the metric several: `value` is their geometric mean, or their mean if one is not above 0. Absent otherwise.",
    ),
  ),
  durationMs: v.optional(
    described(
      v.pipe(finite, v.minValue(0)),
      'Wall time, including the start of its processes. Absent for metrics that were not run, and in the first documents.',
    ),
  ),
  stats: v.null(),
  blocks: v.optional(
    described(
      v.pipe(v.array(finite), v.maxLength(MOST_BLOCKS)),
      'Medians, in `unit`, of consecutive blocks of the samples behind `value`, in the order of measurement. Present exactly if status is ok and there were samples.',
    ),
  ),
  samples: v.optional(v.array(finite)),
  details: v.record(v.string(), v.unknown()),
  checks: v.array(checkSchema),
  violations: v.optional(
    described(
      v.array(v.strictObject({ detail: v.string() })),
      'Limits that were shown not to hold; absent if there are none.',
    ),
  ),
};

const okSchema = named(
  'OkFields',
  v.strictObject({
    ...fieldsWithoutNumber,
    status: v.literal('ok'),
    reason: v.optional(v.string()),
    value: described(finite, "The metric's own value in `unit`, never a difference from another run."),
    ci95: interval,
    stats: v.nullable(statsSchema),
  }),
  'The fields of a result with a number.',
);

const withoutNumberSchema = named(
  'FieldsWithoutNumber',
  v.strictObject(fieldsWithoutNumber),
  'The fields of a result without a number.',
);

export type OkFields = v.InferOutput<typeof okSchema>;
export type FieldsWithoutNumber = v.InferOutput<typeof withoutNumberSchema>;

/** A result with its number. */
export type OkResult<Details = Record<string, unknown>> = Omit<OkFields, 'details'> & { details: Details };

/** A result without a number, with those of the details that were found. */
export type ResultWithoutNumber<Details = Record<string, unknown>> = Omit<FieldsWithoutNumber, 'details'> & {
  details: Partial<Details>;
};

/** The result of a metric: `value` is a number if `status` is `ok`; otherwise `reason` says why there is none. */
export type MetricResult<Details = Record<string, unknown>> = OkResult<Details> | ResultWithoutNumber<Details>;

export const metricResultSchema: v.GenericSchema<MetricResult> = named(
  'MetricResult',
  v.variant('status', [okSchema, withoutNumberSchema]),
  'The result of a metric: `value` is a number if `status` is `ok`; otherwise `reason` says why there is none.',
);

export const gpuSchema = named(
  'GpuInfo',
  v.strictObject({
    index: count,
    uuid: v.string(),
    name: v.string(),
    simulated: v.boolean(),
    memoryBytes: count,
    computeCapability: v.string(),
    multiprocessors: count,
    maxSmClockMhz: v.optional(
      described(v.nullable(count), 'Reported by NVML. Absent in the first documents of this schema.'),
    ),
    powerLimitW: v.optional(
      described(v.nullable(finite), 'The power limit that is set, as NVML reports it. Absent in earlier documents.'),
    ),
    vbios: v.optional(
      described(v.nullable(v.string()), 'Version of the VBIOS, as NVML reports it. Absent in earlier documents.'),
    ),
    pciBusId: v.nullable(v.string()),
    migMode: v.picklist(['enabled', 'disabled', 'not supported']),
    persistenceMode: v.nullable(v.boolean()),
    computeMode: v.nullable(v.picklist(['default', 'exclusive-thread', 'prohibited', 'exclusive-process'])),
    mpsClient: v.nullable(v.boolean()),
  }),
  'A GPU, as the driver and NVML describe it.',
);

const hostSchema = named(
  'HostInfo',
  v.strictObject({
    platform: v.string(),
    arch: v.string(),
    kernel: v.string(),
    cpu: v.string(),
    cores: count,
    usableCores: count,
    memoryBytes: count,
    node: v.string(),
    container: v.boolean(),
  }),
  'The machine.',
);

const driverSchema = named(
  'DriverInfo',
  v.strictObject({
    version: described(v.nullable(v.string()), 'Version of the kernel driver as NVML reports it, e.g. 580.159.04.'),
    cudaVersion: described(
      v.nullable(count),
      'CUDA version of the user-mode driver as cuDriverGetVersion reports it, e.g. 13000.',
    ),
    libcuda: v.nullable(v.string()),
    libnvidiaMl: v.nullable(v.string()),
    replaced: v.optional(
      described(
        v.strictObject({ by: v.string(), driver: v.nullable(v.string()), reason: v.string() }),
        'Set if libcuda.so.1 is not the driver: the library that replaces it, and the driver behind it if one is mapped.',
      ),
    ),
  }),
  'The driver, and the libraries through which it was called.',
);

const layerSchema = named(
  'LayerInfo',
  v.strictObject({
    path: v.string(),
    sha256: v.nullable(v.string()),
    exports: described(count, 'How many symbols beginning with `cu` it exports.'),
    active: described(v.boolean(), "Whether it owns at least one driver function on a symbol path, or one of NVML's."),
  }),
  'The library of a layer.',
);

const provenanceSchema = named(
  'FunctionProvenance',
  v.strictObject({
    name: v.string(),
    paths: described(
      v.strictObject({
        runtime: v.nullable(v.string()),
        dlsym: v.nullable(v.string()),
        linked: v.nullable(v.string()),
        bare: v.nullable(v.string()),
      }),
      'The object that owns the address on each symbol path; null if the path does not resolve.',
    ),
    interposed: v.array(v.picklist(['runtime', 'dlsym', 'linked'])),
    patched: v.optional(
      described(
        v.strictObject({ bytes: v.string(), owner: v.nullable(v.string()) }),
        "Set if the driver's code in memory differs from its file: its first bytes, hexadecimal, and the object that a jump there leads to. Such a patch intercepts every symbol path and changes no pointer.",
      ),
    ),
  }),
  'Which object owns a driver function.',
);

const column = v.array(v.nullable(finite));

/** What the coordinator read through NVML while the metrics ran; columns of equal length. */
const samplerSchema = v.strictObject({
  source: v.literal('nvml'),
  intervalMs: count,
  timeMs: described(v.array(finite), 'Time since the first reading.'),
  gpuPercent: described(
    column,
    "Percentage of NVML's own sampling period in which a kernel ran, or memory was accessed.",
  ),
  memoryPercent: column,
  usedBytes: column,
  temperatureC: column,
  powerW: column,
  smClockMhz: column,
  memoryClockMhz: column,
  eventReasons: described(column, 'Bits of nvmlDeviceGetCurrentClocksEventReasons.'),
});

const healthSchema = v.strictObject({
  before: described(v.array(checkSchema), 'The machine before the first measurement.'),
  after: described(v.array(checkSchema), 'What disturbed the measurements, over all metrics.'),
});

export const runDocumentSchema = named(
  'RunDocument',
  v.strictObject({
    schemaVersion: v.literal(SCHEMA_VERSION),
    kind: v.literal('run'),
    tool: v.strictObject({ name: v.literal('gpu-virt-bench'), version: v.string() }),
    startedAt: v.pipe(v.string(), v.isoTimestamp()),
    durationMs: finite,
    completed: v.boolean(),
    session: v.optional(
      described(
        v.strictObject({ document: count, round: count }),
        'The origin of a round of a merged comparison. Rounds with the same origin were measured together; without origins, the n-th rounds were.',
      ),
    ),
    reused: v.optional(
      described(v.literal(true), 'Set for rounds that were measured before --resume continued the comparison.'),
    ),
    recorded: v.optional(
      described(
        v.literal(true),
        'Set for rounds of another session, from the result that `native:recorded=FILE` names.',
      ),
    ),
    host: hostSchema,
    gpu: v.array(gpuSchema),
    driver: driverSchema,
    groundTruth: v.picklist(['nvml', 'none']),
    pidMapping: v.picklist(['same', 'difference', 'none']),
    system: v.strictObject({
      name: v.string(),
      kind: v.string(),
      verified: v.optional(
        described(
          v.literal(false),
          'False for a custom system without proofs, shown as `NAME (unverified)`; absent for all others.',
        ),
      ),
      settings: v.record(v.string(), v.string()),
      spec: v.optional(described(v.string(), 'The argument of `--system`; absent if a file, or no system, was named.')),
      layer: v.optional(layerSchema),
      attestation: v.array(v.strictObject({ proof: v.string(), passed: v.boolean(), detail: v.string() })),
      notCheckedAfter: v.optional(
        described(
          v.string(),
          'Why the proofs could not be repeated in every worker after measuring; absent if they were, or none was attempted.',
        ),
      ),
      processes: v.optional(
        described(
          v.strictObject({ proven: count, of: count }),
          'Processes that gave numbers (workers, tenants and fresh processes), and how many of them their own proofs showed to be under the system. Absent in the first documents of this schema.',
        ),
      ),
    }),
    plan: v.strictObject({
      tier: v.picklist(['quick', 'standard', 'thorough']),
      purpose: v.optional(described(v.picklist(purposeNames), 'Set by --for.')),
      metrics: v.array(v.string()),
      processes: v.optional(
        described(
          v.record(v.string(), count),
          'Processes that a round gives a metric, where the plan gives it more than its own.',
        ),
      ),
      rounds: count,
      seed: count,
      device: count,
      path: v.picklist(['runtime', 'dlsym', 'linked']),
      options: v.record(v.string(), v.unknown()),
    }),
    provenance: v.array(provenanceSchema),
    metrics: v.array(metricResultSchema),
    health: healthSchema,
    coordinatorCpuPercent: described(finite, "The coordinating process's use of one core while the metrics ran."),
    sampler: v.optional(described(samplerSchema, 'Absent if NVML could not be read.')),
    warnings: v.array(v.string()),
  }),
  'What `run` writes: the metrics of one system.',
);

const verdictSchema = v.picklist(['faster', 'slower', 'same', 'inconclusive', 'invalid']);

const effectSchema = named(
  'Effect',
  v.strictObject({
    metric: v.string(),
    system: v.string(),
    baseline: v.string(),
    rounds: described(count, "Rounds in which both systems' results were ok."),
    ratio: described(
      v.nullable(finite),
      "Oriented: above 1 is worse in the metric's direction. Null if values may be zero or negative.",
    ),
    ratioCi90: described(
      interval,
      'Inside ±δ, the 90 % interval shows that the effect is too small to count; see `relevance`.',
    ),
    ratioCi95: interval,
    difference: described(v.nullable(finite), "System − baseline in the metric's unit, signed."),
    differenceCi90: interval,
    differenceCi95: interval,
    p: described(
      v.nullable(finite),
      'Two-sided p of no difference, by the model of the intervals; null if it could not be tested.',
    ),
    betweenRounds: described(
      v.nullable(v.tuple([finite, finite])),
      'Standard deviations between rounds of the system and of the baseline, of logarithms where there is a ratio; null with one round.',
    ),
    pMannWhitney: described(v.nullable(finite), 'Rank test of the rounds, given in addition; it decides nothing.'),
    established: described(
      v.boolean(),
      'Whether a difference is shown, even one that is too small to count. Of the `slower` and `faster` of one system, at most 5 % are expected to be false.',
    ),
    relevance: described(
      v.nullable(v.picklist(['within', 'beyond', 'straddles'])),
      '`within`: shown to be smaller than δ. `beyond`: the whole 95 % interval lies beyond δ. `straddles`: perhaps too small to count. Null without an interval.',
    ),
    verdict: described(
      verdictSchema,
      '`same` if `relevance` is `within`; else `slower` or `faster` if established; else `inconclusive`.',
    ),
    roundsNeeded: described(
      v.nullable(count),
      'Estimated rounds after which the verdict is no longer inconclusive, with a probability of 80 % if the estimates so far are right. Null if it is decided, cannot be estimated or needs more than 500.',
    ),
    exact: v.optional(
      described(
        v.literal(true),
        'Set for values that do not vary, such as counts: they are compared as values and are in no family.',
      ),
    ),
    reason: v.optional(v.string()),
  }),
  'A system against a baseline in one metric.',
);

const severalCardsSchema = named(
  'SeveralCards',
  v.strictObject({
    system: v.string(),
    baseline: v.string(),
    paired: described(
      v.array(v.strictObject({ uuid: v.string(), rounds: described(v.array(count), 'Numbers from 1.') })),
      'The cards on which both ran in the same rounds.',
    ),
    leftOut: described(
      v.array(
        v.strictObject({
          round: described(count, 'A number from 1.'),
          system: described(v.string(), 'UUID of its card.'),
          baseline: described(v.string(), 'UUID of its card.'),
        }),
      ),
      'Rounds in which they ran on different cards.',
    ),
  }),
  'The cards of two systems.',
);

const callEffectSchema = named(
  'CallEffect',
  v.strictObject({
    metric: v.string(),
    system: v.string(),
    call: described(v.string(), 'The driver function, or the way to call it.'),
    owner: described(v.nullable(v.string()), 'The object whose function a program calls.'),
    intercepted: described(
      v.boolean(),
      'Whether the two pointers differ in any round. If not, the overhead is measurement error.',
    ),
    interceptedOn: described(
      v.nullable(v.array(v.picklist(['runtime', 'dlsym', 'linked']))),
      'Symbol paths on which the layer owns it; null for a function whose owners are not listed.',
    ),
    rounds: described(count, 'Rounds that measured it.'),
    overheadNs: described(finite, "Mean over rounds of each round's median pair, signed."),
    overheadCi95: interval,
    trimmed: v.optional(
      described(
        v.strictObject({ overheadNs: finite, overheadCi95: interval }),
        "The same of each round's mean difference without the lowest and highest hundredth of the pairs: rare stalls count.",
      ),
    ),
    bareNs: described(finite, "Cost of the driver's own call: median over rounds."),
    p: described(v.nullable(finite), 'Two-sided p of no cost; null if it could not be tested.'),
    verdict: described(
      verdictSchema,
      'Against zero: `slower` or `faster` if a cost is shown, with all calls of the system as one family.',
    ),
  }),
  "The cost of one driver call under a system: through the application's pointer minus through the driver's own.",
);

const programCostSchema = named(
  'ProgramCost',
  v.strictObject({
    system: v.string(),
    profile: described(v.string(), 'Name of the profile.'),
    phase: v.string(),
    steps: described(
      v.nullable(count),
      'Steps in the phase; null if the profile does not say, and the phase counts as one step.',
    ),
    stepUs: described(finite, 'Duration of a step as recorded, with counting.'),
    callsPerStep: finite,
    rounds: described(count, 'Rounds that measured prices.'),
    taxUs: described(v.nullable(finite), "Mean over rounds of each round's sum; null if no call has a price."),
    ci95: interval,
    percent: described(v.nullable(finite), "Percentage of the step's duration."),
    percentCi95: interval,
    calls: described(
      v.array(
        v.strictObject({
          call: v.string(),
          metric: v.string(),
          as: v.optional(
            described(
              v.string(),
              'The arguments that the price is for, e.g. `cuMemAlloc_v2 of 2 MiB, 16 live`; absent if it is for any.',
            ),
          ),
          callsPerStep: finite,
          priceNs: finite,
          taxUs: finite,
        }),
      ),
      'Calls with a price: the metric that measured it, and their total per step. Largest first.',
    ),
    missing: described(
      v.array(v.strictObject({ call: v.string(), callsPerStep: finite, reason: v.string() })),
      'Calls without a price, which are in no sum. Most frequent first.',
    ),
  }),
  'The cost of interception for a program, from its call profile: a sum over its calls in one phase.',
);

const computeLimitSchema = v.strictObject({
  system: v.string(),
  limitPercent: described(finite, "The configured limit, in per cent of the card's time."),
  label: v.picklist(['throttled', 'not throttled', 'not checked']),
  achievedPercent: described(
    v.nullable(finite),
    'Share of time during which a load that fills the card ran, over the second half of the load.',
  ),
  detail: described(v.string(), 'A description of the load, or why it was not run.'),
  binMs: described(count, "Length of one bin of `sharesPercent`, in milliseconds of the device's time."),
  sharesPercent: v.array(finite),
});

/** How many rounds were planned, from the variance between the rounds of a pilot that is not part of the document. */
const detectionSchema = v.strictObject({
  effect: described(finite, 'The effect to detect: 0.05 is 5 %.'),
  pilotRounds: count,
  mostRounds: described(count, 'The largest number of rounds that could be planned.'),
  needs: described(
    v.array(
      v.strictObject({
        metric: v.string(),
        system: v.string(),
        rounds: described(
          v.nullable(count),
          'Null if it takes more than `mostRounds`; `detects` is then what those rounds detect.',
        ),
        detects: finite,
      }),
    ),
    'The rounds that detect the effect, and the effect that they detect, for every ratio of the pilot.',
  ),
  isPilot: v.optional(
    described(v.literal(true), 'Set if this is the document of the pilot itself, which was interrupted.'),
  ),
});

export const comparisonDocumentSchema = named(
  'ComparisonDocument',
  v.strictObject({
    schemaVersion: v.literal(SCHEMA_VERSION),
    kind: v.literal('comparison'),
    tool: v.strictObject({ name: v.literal('gpu-virt-bench'), version: v.string() }),
    startedAt: v.pipe(v.string(), v.isoTimestamp()),
    durationMs: finite,
    completed: v.boolean(),
    stopped: v.optional(
      described(
        v.strictObject({ because: v.picklist(['missing', 'not active']), detail: v.string() }),
        'Set if it ended before its last round because fewer than two systems were left to compare.',
      ),
    ),
    plan: v.strictObject({
      tier: v.picklist(['quick', 'standard', 'thorough']),
      purpose: v.optional(described(v.picklist(purposeNames), 'Set by --for.')),
      metrics: v.array(v.string()),
      systems: v.array(v.string()),
      rounds: count,
      seed: count,
      order: described(v.array(v.array(v.string())), 'Names of the systems in the order they ran, round by round.'),
      config: v.optional(
        described(
          v.string(),
          'The file of the systems in the results directory, for --config; absent if no directory was written.',
        ),
      ),
      detect: v.optional(described(detectionSchema, 'Set by --detect.')),
    }),
    systems: described(v.array(v.array(runDocumentSchema)), 'Documents by system, then by round.'),
    effects: described(v.array(effectSchema), 'Effects of every system against the first one.'),
    pairs: described(
      v.array(effectSchema),
      'Effects of every other system against those before it, in the same form: `baseline` is the other system.',
    ),
    rejudgedFrom: v.optional(
      described(
        count,
        "The schema version of the document from whose rounds today's rules computed these effects; absent if it is this one.",
      ),
    ),
    cards: v.optional(
      described(
        v.array(severalCardsSchema),
        'Set if rounds ran on several cards: systems are compared within each card alone.',
      ),
    ),
    callEffects: v.optional(
      described(
        v.array(callEffectSchema),
        'Effects from in-process pairs: see callEffectSchema. Absent in documents of schema version 1.',
      ),
    ),
    programCosts: v.optional(
      described(v.array(programCostSchema), 'Set if --profile named a call profile: for every system and phase.'),
    ),
    prices: v.optional(
      described(
        gpuPricesSchema,
        'What a GPU hour costs, where it was given: the costs among the metrics were computed with it.',
      ),
    ),
    rankings: v.optional(
      described(v.array(rankingSchema), 'Where programs were measured: of their rates, latencies and costs.'),
    ),
    computeLimits: described(
      v.array(computeLimitSchema),
      'Whether the compute limits that were set show; measured once, before the rounds. They invalidate nothing.',
    ),
    violations: described(
      v.array(v.strictObject({ system: v.string(), metric: v.string(), detail: v.string() })),
      'Limits that a metric showed not to hold.',
    ),
    answer: v.optional(
      described(
        answerSchema,
        'What a reader decides from; computed again whenever the document is rendered. Absent in earlier documents.',
      ),
    ),
    warnings: v.array(v.string()),
  }),
  'What `compare` and `exec` write: the rounds of all systems, and what follows from them.',
);

export type Effect = v.InferOutput<typeof effectSchema>;
export type ProgramCost = v.InferOutput<typeof programCostSchema>;
export type SeveralCards = v.InferOutput<typeof severalCardsSchema>;
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
