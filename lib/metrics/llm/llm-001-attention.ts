/** LLM-001: whether attention over a prompt (prefill), which is bound by the tensor cores, keeps its speed. */
import * as v from 'valibot';
import type { AttentionRate, AttentionRequest } from '../../native/addon-types.js';
import type { Check, MetricResult, Tier } from '../../results/document.js';
import { tensorCeilingTflops } from '../../environment/ceilings.js';
import { type MedianEstimate, median } from '../../stats/median.js';
import { serialMedian } from '../../stats/serial.js';
import { choice, count, described, flag, interval, quantity, rowOrReason, rows, text } from '../core/details.js';
import { invalidBy, type MeasureContext, type MetricDefinition } from '../core/metric.js';
import { measureFunction } from '../core/measure-function.js';
import { BenchError } from '../../errors/bench-error.js';
import { type RowState, rowState } from '../core/row-state.js';
import { decodeRate, decodeShape } from './decode-attention.js';

type Shape = Pick<AttentionRequest, 'number' | 'headDim' | 'causal'> & { length: 'short' | 'long' };

const HEADLINE: Shape = { number: 'fp16', headDim: 128, length: 'long', causal: false };
/** The rows of a tier, in addition to those of lower tiers. */
const FURTHER: Record<Tier, Shape[]> = {
  quick: [
    { ...HEADLINE, causal: true },
    { ...HEADLINE, length: 'short' },
  ],
  standard: [
    { ...HEADLINE, number: 'bf16' },
    { ...HEADLINE, number: 'bf16', causal: true },
    { ...HEADLINE, headDim: 64 },
  ],
  thorough: (['fp16', 'bf16'] as const).flatMap((number) =>
    [64, 128].flatMap((headDim) =>
      (['short', 'long'] as const).flatMap((length) =>
        [false, true].map((causal) => ({ number, headDim, length, causal })),
      ),
    ),
  ),
};
const ORDER: readonly Tier[] = ['quick', 'standard', 'thorough'];

const TOKENS = { short: 1_024, long: 4_096 };
/** Queries and keys of a model with 2048 values per token, as in published tables. */
const HIDDEN = 2_048;
/** The simulated GPU computes its results on the host and models the time, so a single batch is enough. */
const SIMULATED = { tokens: { short: 64, long: 160 }, heads: 4, batch: 1, leastNs: 0 };
/** Numbers of batches: too few for an interval, which a comparison has over its rounds. */
const BATCHES = { headline: 8, other: 3 };
const LEAST_LAUNCHES = 20;
const LEAST_NS = 50_000_000;
/** Four query heads per KV head, as in Llama 3; 512 MiB of keys and values, eight times an H200's L2. */
const DECODE = { dimension: 128, heads: 32, kvHeads: 8, context: TOKENS.long, batch: 32 };
const SIMULATED_DECODE = { dimension: 128, heads: 4, kvHeads: 2, context: 72, batch: 2 };
/** Rounding, and clocks that rise between two readings. */
const SLACK = 1.05;

type Request = Omit<AttentionRequest, 'batches' | 'leastLaunches' | 'leastNs' | 'seed'>;
type Row = { request: Request } & ({ rate: AttentionRate; state: null } | { rate: null; state: RowState });

const attentionRow = rowOrReason(
  {
    number: choice(['fp16', 'bf16'], 'Format of the inputs and outputs'),
    headDim: count('Values per head (D)'),
    heads: count('Heads of queries'),
    kvHeads: count('Heads of keys and values'),
    length: count('Tokens per sequence (S)'),
    causal: flag('Whether a query sees only the keys up to its own place'),
  },
  {
    batch: count('Sequences in a launch'),
    variant: text('The kernel that ran'),
    tflops: quantity('TFLOPS', 'Median rate over batches of launches'),
    ci95: interval('TFLOPS', 'tflops'),
    launchMs: quantity('ms', 'Median time of a launch'),
    launches: count('Launches in a batch'),
    batches: count('Batches of launches: the samples'),
    launchFlops: quantity('FLOP', 'Operations of a launch'),
    smClockMhz: v.nullable(quantity('MHz', 'Highest SM clock while launches ran; null if NVML does not report it')),
    ceilingTflops: v.nullable(
      quantity('TFLOPS', "The tensor cores' peak rate at that clock; null if it is not known of this GPU"),
    ),
    ofCeiling: v.nullable(quantity('ratio', 'The rate, divided by that peak rate')),
    sampledRows: count('Rows of the output that were compared with double precision'),
    worstError: quantity('ratio', "Their largest error, relative to the row's largest value"),
    checksum: text('Checksum of the whole output'),
  },
);

const decodeFields = rowOrReason(
  {
    dimension: count('Values per head'),
    heads: count('Heads of queries'),
    kvHeads: count('Heads of keys and values'),
    ...decodeShape,
  },
  {
    cacheBytes: count('Keys and values that a launch reads (bytes)'),
    splits: count('Equal parts into which the pages of all sequences are split'),
    batches: count('Batches of launches: the samples'),
    ...decodeRate,
    ci95: interval('GB/s', 'gbPerSecond'),
  },
);

const details = v.strictObject({
  variant: text('The kernel behind the value: that of the first row'),
  inputs: text('How the inputs were chosen'),
  seed: count('Seed of the inputs'),
  flopsPerPair: text('How operations are counted'),
  rows: rows(attentionRow, 'A row per shape; the first one is behind the value'),
  decode: described(decodeFields, 'Attention of one query per sequence over a paged cache, as when a model decodes'),
});

export type AttentionDetails = v.InferOutput<typeof details>;

const same = (a: Shape, b: Shape): boolean =>
  a.number === b.number && a.headDim === b.headDim && a.length === b.length && a.causal === b.causal;

/** The headline first. */
export function shapesOf(tier: Tier): Shape[] {
  const tiers = ORDER.slice(0, ORDER.indexOf(tier) + 1);
  const shapes = [HEADLINE, ...tiers.flatMap((each) => FURTHER[each])];
  return shapes.filter((shape, i) => shapes.findIndex((other) => same(shape, other)) === i);
}

function requestOf({ length, ...shape }: Shape, simulated: boolean): Request {
  const heads = simulated ? SIMULATED.heads : HIDDEN / shape.headDim;
  const tokens = simulated ? SIMULATED.tokens : TOKENS;
  return { ...shape, heads, kvHeads: heads, batch: simulated ? SIMULATED.batch : 0, length: tokens[length] };
}

const textOf = ({ number, headDim, length, causal }: Request): string =>
  `${number}, D ${headDim}, S ${length}${causal ? ', causal' : ''}`;

const tflopsOf = ({ launchFlops, launchNs }: AttentionRate): Float64Array =>
  Float64Array.from(launchNs, (ns) => launchFlops / ns / 1e3);

const estimateOf = (rate: AttentionRate): MedianEstimate => serialMedian(tflopsOf(rate));

/**
 * Peak rate at the clock read under load; null for an architecture without a known rate, or if NVML reports no clock.
 */
const ceilingOf = ({ computeCapability, multiprocessors, smClockMhz }: AttentionRate): number | null =>
  smClockMhz === null ? null : tensorCeilingTflops({ computeCapability, multiprocessors, maxSmClockMhz: smClockMhz });

/** Rates above the tensor cores' peak are a counting error. */
export function accountingCheck(rates: readonly AttentionRate[]): Check {
  const seen = rates.map((rate) => ({ tflops: Math.max(...tflopsOf(rate)), ceiling: ceilingOf(rate) }));
  const beyond = seen.find(({ tflops, ceiling }) => ceiling !== null && tflops > SLACK * ceiling);
  const known = seen.flatMap(({ ceiling }) => ceiling ?? []);
  const name = 'FLOP accounting';
  if (beyond)
    return {
      name,
      passed: false,
      detail: `${beyond.tflops.toFixed(0)} TFLOPS, but at its clock the GPU cannot exceed ${beyond.ceiling?.toFixed(0)}`,
    };
  return known.length < seen.length
    ? {
        name,
        passed: 'not checked',
        detail: 'no rate of tensor cores is known for this GPU, or NVML does not give its clock',
      }
    : {
        name,
        passed: true,
        detail: `no more than ${Math.max(...known).toFixed(0)} TFLOPS, the rate at the clock under load`,
      };
}

async function measureRow(context: MeasureContext, request: Request, batches: number): Promise<AttentionRate> {
  const session = await context.session();
  const leastNs = context.simulatedDriver === null ? LEAST_NS : SIMULATED.leastNs;
  const { seed } = context.options;
  return session.block('attention', { ...request, batches, leastLaunches: LEAST_LAUNCHES, leastNs, seed });
}

/** Rows other than the headline may fail; but if one was not computed, no number is trusted. */
function stateOf(error: unknown): RowState {
  const state = error instanceof BenchError && error.code === 'INVALID_RESULT' ? null : rowState(error);
  if (!state) throw error;
  return state;
}

async function otherRow(context: MeasureContext, request: Request): Promise<Row> {
  try {
    return { request, rate: await measureRow(context, request, BATCHES.other), state: null };
  } catch (error) {
    return { request, rate: null, state: stateOf(error) };
  }
}

function describe({ request, rate, state }: Row): AttentionDetails['rows'][number] {
  const { batch: _, ...shape } = request;
  if (state) return { ...shape, ...state };
  const { value, ci95 } = estimateOf(rate);
  const ceiling = ceilingOf(rate);
  return {
    ...shape,
    batch: rate.batch,
    variant: rate.variant,
    tflops: value,
    ci95,
    launchMs: median(Float64Array.from(rate.launchNs)).value / 1e6,
    launches: rate.launches,
    batches: rate.launchNs.length,
    launchFlops: rate.launchFlops,
    smClockMhz: rate.smClockMhz,
    ceilingTflops: ceiling,
    ofCeiling: ceiling && value / ceiling,
    sampledRows: rate.sampledRows,
    worstError: rate.worstError,
    checksum: rate.checksum,
  };
}

/** Measures one query per sequence over a paged cache, as when a model decodes. */
async function decodeRow(context: MeasureContext): Promise<AttentionDetails['decode']> {
  const simulated = context.simulatedDriver !== null;
  const shape = simulated ? SIMULATED_DECODE : DECODE;
  try {
    const session = await context.session();
    const { bytes, launchNs, splits, referenceError } = await session.block('decodeAttentionRate', {
      ...shape,
      batches: BATCHES.other,
      leastLaunches: LEAST_LAUNCHES,
      leastNs: simulated ? 0 : LEAST_NS,
      seed: context.options.seed,
    });
    const { value: gbPerSecond, ci95 } = serialMedian(Float64Array.from(launchNs, (ns) => bytes / ns));
    return { ...shape, cacheBytes: bytes, splits, batches: launchNs.length, gbPerSecond, ci95, referenceError };
  } catch (error) {
    return { ...shape, ...stateOf(error) };
  }
}

type Described = Request & Pick<AttentionRate, 'variant' | 'checksum'>;

/** Rows that were measured. */
const rowsOf = ({ details }: MetricResult): Described[] =>
  ((details.rows ?? []) as Described[]).filter((row) => row.checksum !== undefined);

const keyOf = (row: Described): string =>
  JSON.stringify([row.number, row.headDim, row.length, row.causal, row.batch, row.heads, row.kvHeads, row.variant]);

/** Equal inputs give equal bits, whichever layer they pass through. */
export function besideNative(own: MetricResult, native: MetricResult): string | null {
  if (own.details.seed !== native.details.seed) return null;
  const checksums = new Map(rowsOf(native).map((row) => [keyOf(row), row.checksum]));
  const other = rowsOf(own).find((row) => (checksums.get(keyOf(row)) ?? row.checksum) !== row.checksum);
  return other ? `the output of ${textOf(other)} has another checksum than the native arm's` : null;
}

export const attention: MetricDefinition<AttentionDetails> = {
  id: 'LLM-001',
  name: 'Attention Kernel Throughput',
  category: 'llm',
  unit: 'TFLOPS',
  direction: 'higher',
  question: 'Does compute-bound prefill keep its speed under the layer?',
  estimator:
    'median over batches of ≥ 20 launches and ≥ 50 ms of 4·D FLOP per visible pair of query and key; fp16, D 128, S 4096, not causal',
  delta: { relative: 0.03 },
  needs: ['compute capability 8.0'],
  functionName: 'measureAttention',
  where: 'process',
  besideNative,
  details,
  seconds: { quick: 4, standard: 6, thorough: 13 },
  async measure(context) {
    const { tier, seed } = context.options;
    const simulated = context.simulatedDriver !== null;
    const [headline, ...others] = shapesOf(tier).map((shape) => requestOf(shape, simulated)) as [Request, ...Request[]];
    context.progress(textOf(headline), 0);
    const rate = await measureRow(context, headline, BATCHES.headline);
    const rows: Row[] = [{ request: headline, rate, state: null }];
    for (const request of others) {
      context.progress(textOf(request), rows.length / (others.length + 2));
      rows.push(await otherRow(context, request));
    }
    context.progress('decode', 1 - 1 / (others.length + 2));
    const decode = await decodeRow(context);
    const checks = [accountingCheck(rows.flatMap((row) => row.rate ?? []))];
    return {
      ...invalidBy(checks),
      ...estimateOf(rate),
      headline: tflopsOf(rate),
      details: {
        variant: rate.variant,
        inputs: 'random normal, from the seed',
        seed,
        flopsPerPair: `4 · D for each pair of a query and a key that it sees`,
        rows: rows.map(describe),
        decode,
      },
      checks,
    };
  },
};

/**
 * LLM-001, TFLOPS: attention forward over prompts (random normal inputs, single-precision sums), with the kernel that
 * ran and its share of the tensor cores' peak at the clock under load; `details.rows` has other shapes,
 * `details.decode` the GB/s at which decode attention reads a paged cache. Outputs are compared with double precision.
 */
export const measureAttention = measureFunction(attention);
