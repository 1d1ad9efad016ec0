/** LLM-008: matrix products in each number format, and how much faster half precision is than single. */
import * as v from 'valibot';
import { fp32CeilingTflops, fp8CeilingTflops, type SmClock, tensorCeilingTflops } from '../../environment/ceilings.js';
import type { GemmRate, GemmRates, GemmRatesRequest, NumberFormat } from '../../native/addon-types.js';
import type { Session } from '../../native/session.js';
import type { Check } from '../../results/document.js';
import { median } from '../../stats/median.js';
import { serialMedian } from '../../stats/serial.js';
import { type Collected, collect, concat } from '../core/collect.js';
import { choice, count, interval, quantity, rows, text } from '../core/details.js';
import { invalidBy, type MeasureContext, type MetricDefinition, unsupported } from '../core/metric.js';
import { measureFunction } from '../core/measure-function.js';
import { memoryRoom } from '../overhead/memory-sizes.js';
import { formatBytes } from '../../results/text/format-bytes.js';

/**
 * The side of the matrices: the largest of which all take at most three quarters of the memory. Smaller ones would
 * leave multiprocessors of a large GPU without work, and could take less time than their launch.
 */
const SIDES = [4096, 2048] as const;
const MOST_OF_MEMORY = 0.75;
/** Three matrices with 4 bytes per number, six with 2 bytes, two with 1 and one with 2. */
const BYTES_OF_ALL = 28;
const freeBytesFor = (side: number): number => Math.ceil((BYTES_OF_ALL * side ** 2) / MOST_OF_MEMORY);
/** Loads the kernels, and shows which formats the GPU supports. */
const FIRST = { side: 256, leastLaunches: 1, leastNs: 0 } as const;
const SANITY_SIDE = 10_000;
const SANITY_BYTES = 12;
/** Rounds of batches of every format, in turn. */
const ROUNDS = { quick: 6, standard: 12, thorough: 40 } as const;
const BLOCK = 2;
const BATCH = { leastLaunches: 20, leastNs: 50_000_000 } as const;
const SLACK = 1.05;
const LEAST_OF_CEILING = 0.2;
const FLOPS_PER_TERAFLOP = 1e12;

const NUMBERS = ['fp32', 'fp16', 'bf16', 'fp8 e4m3'] as const satisfies readonly NumberFormat[];

const measuredRow = v.strictObject({
  number: choice(NUMBERS, 'Format of the inputs'),
  variant: text('The kernel that ran'),
  tflops: quantity('TFLOPS', 'Median rate over batches of launches'),
  ci95: interval('TFLOPS', 'tflops'),
  launchUs: quantity('us', 'Median time of a launch'),
  launchesOfBatch: count('Launches in a batch'),
  flopsOfLaunch: quantity('FLOP', 'Operations of a launch'),
  bytesOfLaunch: count('The three matrices (bytes)'),
  smClockMhz: v.nullable(quantity('MHz', 'Highest SM clock while launches ran; null if NVML does not report it')),
  ceilingTflops: v.nullable(quantity('TFLOPS', 'The peak rate at that clock; null if it is not known of this GPU')),
  ofCeiling: v.nullable(quantity('ratio', 'The rate, divided by that peak rate')),
  sampledElements: count('Elements of the product that were compared with double precision'),
  worstError: quantity('ratio', 'Their largest error, relative to the square root of the side'),
  checksum: text('Checksum of elements that the seed chose'),
});
const missingRow = v.strictObject({
  number: measuredRow.entries.number,
  unsupported: text('Why it was not measured; it then has no numbers'),
});
const side = count('Side of the matrices');

const details = v.strictObject({
  side,
  computeCapability: text('Compute capability of the GPU'),
  multiprocessors: count('Multiprocessors that the process may use'),
  rounds: count('Rounds of batches of every format in turn: the samples'),
  formats: rows(v.union([measuredRow, missingRow]), 'A row per format'),
  sanity: rows(
    v.union([v.strictObject({ side, ...measuredRow.entries }), v.strictObject({ side, ...missingRow.entries })]),
    'FP32 at a size for which there are published results; only at tier thorough',
  ),
});

export type MixedPrecisionDetails = v.InferOutput<typeof details>;
type Row = MixedPrecisionDetails['formats'][number];
type MeasuredRow = v.InferOutput<typeof measuredRow>;

const CEILINGS: Record<NumberFormat, (clock: SmClock) => number | null> = {
  fp32: fp32CeilingTflops,
  fp16: tensorCeilingTflops,
  bf16: tensorCeilingTflops,
  'fp8 e4m3': fp8CeilingTflops,
};

const tflops = ({ launchFlops, launchNs }: GemmRate): Float64Array =>
  launchNs.map((ns) => launchFlops / ns / (FLOPS_PER_TERAFLOP / 1e9));

const rateOf = ({ rates }: GemmRates, number: NumberFormat): GemmRate | undefined =>
  rates.find((rate) => rate.number === number && rate.unsupported === null);

/** One ratio per round. */
function ratios(block: GemmRates): Float64Array {
  const [half, single] = [rateOf(block, 'fp16'), rateOf(block, 'fp32')] as [GemmRate, GemmRate];
  const singles = tflops(single);
  return tflops(half).map((rate, i) => rate / (singles[i] as number));
}

function described(number: NumberFormat, blocks: readonly GemmRates[]): Row {
  const rates = blocks.flatMap((block) => rateOf(block, number) ?? []);
  const first = rates[0];
  if (!first) {
    const reason = blocks[0]?.rates.find((rate) => rate.number === number)?.unsupported;
    return { number, unsupported: reason ?? 'not measured' };
  }
  const { value, ci95 } = serialMedian(concat(...rates.map(tflops)));
  const clocks = rates.flatMap(({ smClockMhz }) => smClockMhz ?? []);
  const clockMhz = clocks.length > 0 ? Math.max(...clocks) : null;
  const [{ computeCapability, multiprocessors }] = blocks as [GemmRates];
  const ceiling = CEILINGS[number]({ computeCapability, multiprocessors, maxSmClockMhz: clockMhz });
  return {
    number,
    variant: first.variant,
    tflops: value,
    ci95,
    launchUs: median(concat(...rates.map(({ launchNs }) => launchNs))).value / 1e3,
    launchesOfBatch: first.launches,
    flopsOfLaunch: first.launchFlops,
    bytesOfLaunch: first.launchBytes,
    smClockMhz: clockMhz,
    ceilingTflops: ceiling,
    ofCeiling: ceiling === null ? null : value / ceiling,
    sampledElements: rates.reduce((sum, { sampled }) => sum + sampled, 0),
    worstError: Math.max(...rates.map(({ worstError }) => worstError)),
    checksum: first.checksum,
  };
}

const measuredRows = (rows: readonly Row[]): MeasuredRow[] =>
  rows.filter((row): row is MeasuredRow => !('unsupported' in row));

const shareText = ({ number, tflops: rate, ceilingTflops }: MeasuredRow): string =>
  ceilingTflops === null
    ? `${number} ${rate.toFixed(1)} TFLOPS (no ceiling is known)`
    : `${number} ${rate.toFixed(1)} of ${ceilingTflops.toFixed(1)} TFLOPS`;

/** Compares with the peak rate at the clock read while the launches ran. */
function ceilingCheck(rows: readonly MeasuredRow[]): Check {
  const beyond = rows.filter(({ ofCeiling }) => ofCeiling !== null && ofCeiling > SLACK);
  return {
    name: 'FLOP accounting',
    passed: beyond.length === 0,
    detail: (beyond.length > 0 ? beyond : rows).map(shareText).join(', '),
  };
}

const slowRows = (rows: readonly MeasuredRow[]): MeasuredRow[] =>
  rows.filter(({ ofCeiling }) => ofCeiling !== null && ofCeiling < LEAST_OF_CEILING);

/** The least rate is only required natively: a limit on multiprocessors slows every format. */
function leastCheck(rows: readonly MeasuredRow[]): Check {
  const slow = slowRows(rows);
  return {
    name: 'a fifth of the ceiling',
    passed: slow.length === 0 ? true : 'not checked',
    detail: slow.length === 0 ? 'every format' : `${slow.map(shareText).join(', ')}; a limit can make it so`,
  };
}

/** All blocks of a session use one seed, and so have the same products. */
function checksumCheck(blocks: readonly GemmRates[], rows: readonly MeasuredRow[]): Check {
  const differing = rows.filter(({ number, checksum }) =>
    blocks.some((block) => rateOf(block, number)?.checksum !== checksum),
  );
  return {
    name: 'equal products from equal inputs',
    passed: differing.length === 0,
    detail: differing.length === 0 ? 'every format' : differing.map(({ number }) => number).join(', '),
  };
}

const ask = (session: Session, seed: number, request: Partial<GemmRatesRequest> & { side: number }) =>
  session.block('gemmRates', { number: null, rounds: 1, ...BATCH, seed, ...request });

async function measureRounds(context: MeasureContext, session: Session, side: number): Promise<Collected<GemmRates>> {
  const { iterations, resolution, seed, tier } = context.options;
  return collect(
    { iterations, resolution, blockSize: BLOCK, cap: ROUNDS[tier] },
    (rounds, fraction) => {
      context.progress(`${side} × ${side}`, fraction);
      return ask(session, seed, { side, rounds });
    },
    ratios,
  );
}

/** FP32 at a size for which there are published results. */
async function sanityRow(
  context: MeasureContext,
  session: Session,
  limit: number,
): Promise<MixedPrecisionDetails['sanity'][number]> {
  const bytes = SANITY_BYTES * SANITY_SIDE ** 2;
  const common = { side: SANITY_SIDE, number: 'fp32' as const };
  if (bytes > limit / 2)
    return { ...common, unsupported: `${formatBytes(bytes)} is more than half of ${formatBytes(limit)}` };
  context.progress(`${SANITY_SIDE} × ${SANITY_SIDE}`, 1);
  const block = await ask(session, context.options.seed, { side: SANITY_SIDE, number: 'fp32' });
  return { ...common, ...described('fp32', [block]) };
}

export const mixedPrecision: MetricDefinition<MixedPrecisionDetails> = {
  id: 'LLM-008',
  name: 'Mixed Precision Support',
  category: 'llm',
  unit: 'ratio',
  direction: 'higher',
  question: 'Does the layer slow tensor-core kernels down more than others?',
  estimator: 'median over rounds of the rate of FP16 matrix products on tensor cores ÷ that of FP32 on CUDA cores',
  delta: { relative: 0.03 },
  comparedAt: { name: 'side of the matrices', of: ({ side }) => side },
  needs: ['tensor cores'],
  functionName: 'measureMixedPrecision',
  where: 'process',
  details,
  besideNative: (_own, { details }) => {
    const slow = slowRows(measuredRows(details.formats as Row[]));
    return slow.length === 0
      ? null
      : `the native arm is below a fifth of its ceiling: ${slow.map(shareText).join(', ')}`;
  },
  seconds: { quick: 4, standard: 5, thorough: 14 },
  async measure(context) {
    const session = await context.session();
    const { limit } = await memoryRoom(session);
    const side = SIDES.find((each) => freeBytesFor(each) <= limit);
    if (side === undefined) {
      const least = formatBytes(freeBytesFor(Math.min(...SIDES)));
      return unsupported(`matrices that fill a GPU need ${least} of free memory, and there are ${formatBytes(limit)}`);
    }
    const first = await ask(session, context.options.seed, FIRST);
    const missing = ['fp16', 'fp32'].flatMap(
      (wanted) => first.rates.find(({ number }) => number === wanted)?.unsupported ?? [],
    );
    if (missing[0] !== undefined) return unsupported(missing[0], { computeCapability: first.computeCapability });
    const { blocks, samples, estimate } = await measureRounds(context, session, side);
    const { computeCapability, multiprocessors, rates } = first;
    const formats = rates.map(({ number }) => described(number, blocks));
    const sanity = context.options.tier === 'thorough' ? [await sanityRow(context, session, limit)] : [];
    const rows = measuredRows(formats);
    const checks = [ceilingCheck([...rows, ...measuredRows(sanity)]), checksumCheck(blocks, rows), leastCheck(rows)];
    const { value, ci95 } = estimate;
    return {
      ...invalidBy(checks),
      value,
      ci95,
      headline: samples,
      details: { side, computeCapability, multiprocessors, rounds: samples.length, formats, sanity },
      checks,
    };
  },
};

/**
 * LLM-008, ratio: how much faster FP16 matrix products are on tensor cores than FP32 ones on CUDA cores;
 * `details.formats[]` has TFLOPS, kernel variant and share of the ceiling of FP32, FP16, BF16 and FP8.
 */
export const measureMixedPrecision = measureFunction(mixedPrecision);
