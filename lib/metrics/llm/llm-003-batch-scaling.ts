/** LLM-003: how the throughput of a linear layer grows with the batch, which decides at what batch size to serve. */
import * as v from 'valibot';
import { BenchError } from '../../errors/bench-error.js';
import type { BatchRow, BatchScaling, BatchScalingRequest } from '../../native/addon-types.js';
import type { Check, Tier } from '../../results/document.js';
import { median } from '../../stats/median.js';
import { serialMedian } from '../../stats/serial.js';
import { askSession } from '../../workers/session-task.js';
import { setsQuotas } from '../isolation/shared/co-tenants.js';
import { withLimits } from '../isolation/tenant-load.js';
import { count, described, quantity, rowOrReason, rows, text } from '../core/details.js';
import { measureFunction } from '../core/measure-function.js';
import { invalidBy, type MeasureContext, type Measured, type MetricDefinition, unsupported } from '../core/metric.js';
import { rowState } from '../core/row-state.js';
import { FIRST_ID, inScene } from '../tenants/scene.js';
import { describedWeights, weightsField } from './weights.js';

/** Rounds; in each, every batch size runs for at least this many launches and this long. */
const PLAN: Record<Tier, Pick<BatchScalingRequest, 'rounds' | 'leastLaunches' | 'leastNs'>> = {
  quick: { rounds: 6, leastLaunches: 30, leastNs: 10_000_000 },
  standard: { rounds: 10, leastLaunches: 30, leastNs: 20_000_000 },
  thorough: { rounds: 20, leastLaunches: 30, leastNs: 50_000_000 },
};
type Sizes = Pick<BatchScalingRequest, 'n' | 'k' | 'layers' | 'streamBytes'> & { leastNs?: number };
/** Determined by the device's L2 cache and memory. */
const SIZES: Sizes = { n: 0, k: 0, layers: 0, streamBytes: 0 };
/** A simulated card computes on the host, has no cache to exceed, and needs no long batches for its clock. */
const SIMULATED: Sizes = { n: 2_048, k: 4_096, layers: 1, streamBytes: 2 ** 24, leastNs: 0 };
const HEADLINE = 32;
const LOW = 0.8;
/** Smallest rate of reading the weights, relative to the memory's rate; below it, something else takes the time. */
const LEAST_STREAMED = 0.5;
/** The memory clock that a driver reports is rounded. */
const SLACK = 1.05;
const LIMIT_PERCENT = 50;
const DEADLINE_MS = 180_000;
const NS_PER_S = 1e9;

const scalingFields = {
  weights: weightsField,
  variant: text(`The kernel of a batch of ${HEADLINE}`),
  dramReadGbPerSecond: quantity('GB/s', 'Median rate of reading memory alone'),
  dramCeilingGbPerSecond: v.nullable(
    quantity('GB/s', "What the memory's clock and width allow; null if the driver does not report them"),
  ),
  smClockMhz: v.nullable(quantity('MHz', 'SM clock under the largest batch; null if NVML does not report it')),
  batches: rows(
    v.strictObject({
      batch: count('Sequences in a batch'),
      tokensPerSecond: quantity('tokens/s', 'Median throughput, one token per sequence and launch'),
      efficiency: quantity('ratio', 'The throughput, divided by `batch` times that of a batch of 1'),
      launchUs: quantity('us', 'Median time of a launch'),
      gbPerSecond: quantity('GB/s', 'Rate of reading weights and inputs and of writing outputs'),
      tflops: quantity('TFLOPS', 'Rate of arithmetic'),
      variant: text('The kernel that ran'),
      checksum: text("Checksum of a layer's outputs"),
    }),
    'A row per size of the batch',
  ),
  batchBelow80Percent: v.nullable(count('The least batch with less than 80 % efficiency; null: none was')),
};

const details = v.strictObject({
  ...scalingFields,
  limited: v.optional(
    described(
      rowOrReason(
        { smPercent: quantity('%', 'The compute limit') },
        { efficiency: quantity('ratio', `Median efficiency of a batch of ${HEADLINE}`), ...scalingFields },
      ),
      'The same under a compute limit, where the system sets one',
    ),
  ),
});

export type BatchSizeScalingDetails = v.InferOutput<typeof details>;
type Limited = NonNullable<BatchSizeScalingDetails['limited']>;

export type BatchScalingPlan = Partial<Sizes>;

interface Scaled {
  scaling: BatchScaling;
  /** Rate of each batch size, in order. */
  rates: number[];
  /** Efficiency of the headline's batch in each round. */
  efficiencies: Float64Array;
}

const medianNs = ({ launchNs }: BatchRow): number => median(launchNs).value;
const tokensPerSecond = (row: BatchRow): number => (row.batch * NS_PER_S) / medianNs(row);
const gbs = (row: BatchRow): number => row.bytes / medianNs(row);
const readGbs = ({ streamBytes, streamNs }: BatchScaling): number => streamBytes / median(streamNs).value;

function requestOf({ options, simulatedDriver }: MeasureContext, plan: BatchScalingPlan): BatchScalingRequest {
  const { tier, seed, iterations } = options;
  const sizes = simulatedDriver === null ? SIZES : SIMULATED;
  const { rounds, ...turn } = PLAN[tier];
  return { ...turn, ...sizes, ...plan, rounds: iterations ?? rounds, seed };
}

function rowOf({ batches }: BatchScaling, batch: number): BatchRow {
  const row = batches.find((one) => one.batch === batch);
  if (!row) throw new BenchError('INVALID_RESULT', `The addon measured no batch of ${batch}.`);
  return row;
}

function scaled(scaling: BatchScaling): Scaled {
  const [one, many] = [rowOf(scaling, 1), rowOf(scaling, HEADLINE)];
  // n sequences in the time of one would be n times the throughput.
  const efficiencies = Float64Array.from(one.launchNs, (ns, round) => ns / (many.launchNs[round] as number));
  return { scaling, rates: scaling.batches.map(tokensPerSecond), efficiencies };
}

function describeBatches({ scaling: { batches }, rates }: Scaled): BatchSizeScalingDetails['batches'] {
  const alone = rates[0] as number;
  return batches.map((row, i) => {
    const rate = rates[i] as number;
    return {
      batch: row.batch,
      tokensPerSecond: rate,
      efficiency: rate / (row.batch * alone),
      launchUs: medianNs(row) / 1e3,
      gbPerSecond: gbs(row),
      tflops: row.flops / medianNs(row) / 1e3,
      variant: row.variant,
      checksum: row.checksum,
    };
  });
}

function checksOf({ scaling }: Scaled): Check[] {
  const read = readGbs(scaling);
  const one = gbs(rowOf(scaling, 1));
  const ceiling = scaling.memoryCeilingGbs;
  const fastest = Math.max(read, ...scaling.batches.map(gbs));
  return [
    {
      name: 'a single token streams the weights',
      passed: one >= LEAST_STREAMED * read,
      detail: `${one.toFixed(0)} GB/s of ${read.toFixed(0)} GB/s that reading alone reaches`,
    },
    {
      name: 'no faster than the memory',
      passed: ceiling === null ? 'not checked' : fastest <= SLACK * ceiling,
      detail:
        ceiling === null
          ? 'the driver does not report the clock and the width of the memory'
          : `${fastest.toFixed(0)} GB/s, the memory's clock and width allow ${ceiling.toFixed(0)} GB/s`,
    },
  ];
}

function describe(of: Scaled): Omit<BatchSizeScalingDetails, 'limited'> {
  const { smClockMhz, memoryCeilingGbs } = of.scaling;
  const batches = describeBatches(of);
  return {
    weights: describedWeights(of.scaling),
    variant: rowOf(of.scaling, HEADLINE).variant,
    dramReadGbPerSecond: readGbs(of.scaling),
    dramCeilingGbPerSecond: memoryCeilingGbs,
    smClockMhz,
    batches,
    batchBelow80Percent: batches.find(({ efficiency }) => efficiency < LOW)?.batch ?? null,
  };
}

/** A failure of this row does not affect the headline. */
async function limitedRow(context: MeasureContext, request: BatchScalingRequest): Promise<Limited> {
  const smPercent = LIMIT_PERCENT;
  try {
    const row = await withLimits(context, { smPercent }, async (worker) => {
      const no = worker.attestation.computeLimitUnsupported;
      if (no !== undefined) return { unsupported: no };
      return scaled(await worker.ask('batchScaling', request, DEADLINE_MS));
    });
    if ('unsupported' in row) return { smPercent, ...row };
    const failed = invalidBy(checksOf(row));
    if (failed.reason !== undefined) return { smPercent, failed: failed.reason };
    return { smPercent, efficiency: median(row.efficiencies).value, ...describe(row) };
  } catch (error) {
    const state = rowState(error);
    if (!state) throw error;
    return { smPercent, ...state };
  }
}

function measured(of: Scaled, limited: Limited | null): Measured<BatchSizeScalingDetails> {
  const { value, ci95 } = serialMedian(of.efficiencies);
  const checks = checksOf(of);
  return {
    ...invalidBy(checks),
    value,
    ci95,
    headline: of.efficiencies,
    details: { ...describe(of), ...(limited && { limited }) },
    checks,
  };
}

/** With given sizes, for tests; without them the device decides. */
export const batchScalingBy =
  (plan: BatchScalingPlan = {}): MetricDefinition<BatchSizeScalingDetails>['measure'] =>
  async (context) => {
    const request = requestOf(context, plan);
    context.progress('batches of 1 to 64', 0);
    const scaling = await inScene(context, async (scene) => {
      const tenant = await scene.enter({ id: FIRST_ID });
      return askSession(tenant, { name: 'batchScaling', request, deadlineMs: DEADLINE_MS });
    });
    if (scaling.unsupported !== null) return unsupported(scaling.unsupported);
    // Another tenant under another limit takes more time than `quick` has.
    const limits = setsQuotas(context) && context.options.tier !== 'quick';
    if (limits) context.progress(`with ${LIMIT_PERCENT} % of the multiprocessors`, 0.5);
    return measured(scaled(scaling), limits ? await limitedRow(context, request) : null);
  };

export const batchScaling: MetricDefinition<BatchSizeScalingDetails> = {
  id: 'LLM-003',
  name: 'Batch Size Scaling',
  category: 'llm',
  unit: 'ratio',
  direction: 'higher',
  question: 'Does a layer that meters launches change the batch size you should serve at?',
  estimator: `median over rounds of throughput at batch ${HEADLINE} / (${HEADLINE} × throughput at batch 1)`,
  delta: { relative: 0.02 },
  needs: ['512 MiB of GPU memory'],
  functionName: 'measureBatchSizeScaling',
  where: 'fresh-processes',
  details,
  lineCharts: [
    {
      title: 'Throughput against batch size',
      axes: { x: 'sequences in a batch', y: 'tokens a second' },
      rows: 'batches',
      point: { x: 'batch', y: 'tokensPerSecond' },
    },
  ],
  seconds: { quick: 3, standard: 8, thorough: 22 },
  measure: batchScalingBy(),
};

/**
 * LLM-003, ratio: throughput of a linear layer (fp16, N = K = 8192, or larger if the L2 cache requires it) at batch 32,
 * over 32 times that at batch 1. `details.batches[]` has the curve from 1 to 64, with the rate at which each read
 * memory; `batchBelow80Percent` the first batch with less than 80 % efficiency. From tier `standard` on, systems that
 * set a compute limit have the same with 50 % of the multiprocessors in `limited`. `iterations` is the number of rounds;
 * `warmup` and `resolution` do not apply.
 */
export const measureBatchSizeScaling = measureFunction(batchScaling);
