/** Copies of many sizes between pinned memory and the device in one direction, and other ways to copy. */
import * as v from 'valibot';
import { count, interval, quantity, rowOrReason, rows, text } from '../core/details.js';
import type { CopyRate, CopyWay, PcieLink } from '../../native/addon-types.js';
import { BenchError } from '../../errors/bench-error.js';
import { CudaError } from '../../native/errors.js';
import type { Session } from '../../native/session.js';
import type { MedianEstimate } from '../../stats/median.js';
import { shuffled } from '../../stats/random.js';
import { serialMedian } from '../../stats/serial.js';
import { type Collected, collect, concat } from '../core/collect.js';
import { invalidBy, type LineChart, type MeasureContext, type Measured, unsupported } from '../core/metric.js';
import { memoryRoom } from '../overhead/memory-sizes.js';
import { type RowState, rowState } from '../core/row-state.js';
import { MIB } from '../core/units.js';
import { formatBytes } from '../../results/text/format-bytes.js';
import { ceilingGbs, describedLink, linkDetails, noFasterThan, unboundedBy, wholeLink } from './link.js';

const KIB = 1024;
const LARGEST = 256 * MIB;
/** Smallest copy whose duration events can resolve. */
export const LEAST_HEADLINE = MIB;
const SIZES = [4 * KIB, 64 * KIB, MIB, 16 * MIB, LARGEST];
/** Most copies in a sample of small copies: enough that the sample is long compared with the events' error. */
const MOST_COPIES = 64;
/** Size of each copy in a batch, like pages of a KV cache. */
const PIECE = 2 * MIB;
/** Most samples of the headline, copies of 256 MiB: half a second at tier thorough. */
const CAP = { quick: 40, standard: 60, thorough: 120 } as const;
const BLOCK = 20;
const OTHERS = { quick: 8, standard: 12, thorough: 30 } as const;
const WARMUP = 2;

interface CopyPlan {
  way: CopyWay;
  bytes: number;
  copies: number;
}

type Row = { plan: CopyPlan } & (
  { rate: MedianEstimate; count: number; state: null } | { rate: null; count: 0; state: RowState }
);

const copied = { bytes: count('Size of a copy (bytes)'), copies: count('Copies in a sample') };
const rate = {
  gbs: quantity('GB/s', 'Median rate, by events of the device'),
  ci95: interval('GB/s', 'gbs'),
  count: count('Samples'),
};

export const copyCurveDetails = v.strictObject({
  limitBytes: count('Memory that the process may use (bytes)'),
  bytes: count('Size of the copy behind the value (bytes)'),
  node: v.nullable(count('NUMA node of the pinned memory; null if it is not known')),
  link: linkDetails,
  percentOfLink: v.nullable(quantity('%', 'The value, of what the link carries; null if that is not known')),
  sizes: rows(rowOrReason(copied, rate), 'A row per size of a copy'),
  others: rows(rowOrReason({ way: text('The call'), ...copied }, rate), 'The same bytes copied in other ways'),
  gbs: v.optional(quantity('GB/s', 'The value where nothing bounds it, so that it cannot be believed')),
  ci95: v.optional(interval('GB/s', 'gbs')),
});

export type CopyCurveDetails = v.InferOutput<typeof copyCurveDetails>;

/** A metric's direction, and the other ways to copy that it adds. */
interface CopyCurve {
  way: CopyWay;
  /** Plans that copy all `bytes` in other ways, one row each. */
  others: (bytes: number) => readonly CopyPlan[];
}

export const batched = (way: CopyWay, bytes: number): CopyPlan => {
  const piece = Math.min(PIECE, bytes);
  return { way, bytes: piece, copies: Math.floor(bytes / piece) };
};

/** If the plan copies in both directions, counts both. */
const bytesOf = ({ way, bytes, copies }: CopyPlan): number =>
  (way === 'both directions at once' ? 2 : 1) * bytes * copies;

/** Bytes per nanosecond are GB/s. */
const gbsOf = (plan: CopyPlan, deviceNs: Float64Array): Float64Array => deviceNs.map((ns) => bytesOf(plan) / ns);

/** The largest power of two up to 256 MiB and a quarter of what the process may use. */
export const headlineBytes = (limit: number): number => Math.min(LARGEST, 2 ** Math.floor(Math.log2(limit / 4)));

const planOf = (way: CopyWay, bytes: number, largest: number): CopyPlan => ({
  way,
  bytes,
  copies: Math.min(MOST_COPIES, Math.floor(largest / bytes)),
});

const nameOf = ({ way, bytes }: CopyPlan): string => `${way} of ${formatBytes(bytes)}`;

/** Rows other than the headline may fail; but if data was not copied, no number is trusted. */
async function otherRow(context: MeasureContext, session: Session, plan: CopyPlan): Promise<Row> {
  const { warmup, iterations, seed, tier } = context.options;
  const count = iterations ?? OTHERS[tier];
  try {
    const { deviceNs } = await session.ask('copyRate', { ...plan, count, warmup: warmup ?? WARMUP, seed });
    return { plan, rate: serialMedian(gbsOf(plan, deviceNs)), count, state: null };
  } catch (error) {
    const state = error instanceof BenchError && error.code === 'INVALID_RESULT' ? null : rowState(error);
    if (!state) throw error;
    return { plan, rate: null, count: 0, state };
  }
}

async function headline(
  context: MeasureContext,
  session: Session,
  plan: CopyPlan,
): Promise<Collected<CopyRate> & { node: number | null }> {
  const { warmup, iterations, resolution, seed, tier } = context.options;
  const collected = await collect(
    { iterations, resolution, blockSize: BLOCK, cap: CAP[tier] },
    (count, fraction) => {
      context.progress(nameOf(plan), fraction / 2);
      return session.block('copyRate', { ...plan, count, warmup: warmup ?? WARMUP, seed });
    },
    ({ deviceNs }) => gbsOf(plan, deviceNs),
  );
  return { ...collected, node: collected.blocks[0]?.node ?? null };
}

function rowOf({ plan, rate, count, state }: Row) {
  const { bytes, copies } = plan;
  if (state) return { bytes, copies, ...state };
  return { bytes, copies, gbs: rate.value, ci95: rate.ci95, count };
}

const directed = ({ plan, rate }: Row): { name: string; gbs: number }[] =>
  rate ? [{ name: nameOf(plan), gbs: plan.way === 'both directions at once' ? rate.value / 2 : rate.value }] : [];

/** The reason if pinned memory was refused; null for any other error. */
export const pinningRefused = (error: unknown): string | null =>
  error instanceof CudaError && /^cuMemHost/.test(error.call) ? `pinned memory is refused: ${error.message}` : null;

async function measured(
  context: MeasureContext,
  session: Session,
  { way, others: othersOf }: CopyCurve,
): Promise<Measured<CopyCurveDetails>> {
  const { limit } = await memoryRoom(session);
  const bytes = headlineBytes(limit);
  if (bytes < LEAST_HEADLINE)
    return unsupported(`a quarter of ${formatBytes(limit)} is less than ${formatBytes(LEAST_HEADLINE)}`);
  const { seed } = context.options;
  const whole: CopyPlan = { way, bytes, copies: 1 };
  const own = await headline(context, session, whole);
  const link: PcieLink = await session.ask('pcieLink', { bytes, seed });
  const sizes = SIZES.filter((size) => size < bytes).map((size) => planOf(way, size, bytes));
  const plans = shuffled([...sizes, ...othersOf(bytes)], seed);
  const others: Row[] = [];
  for (const [index, plan] of plans.entries()) {
    context.progress(nameOf(plan), (1 + index / plans.length) / 2);
    others.push(await otherRow(context, session, plan));
  }
  const headlineRow: Row = { plan: whole, rate: own.estimate, count: own.samples.length, state: null };
  const all = [...others, headlineRow];
  const bounded = noFasterThan(link, all.flatMap(directed));
  const { value, ci95 } = own.estimate;
  const ceiling = ceilingGbs(link);
  const details = {
    limitBytes: limit,
    bytes,
    node: own.node,
    link: describedLink(link),
    percentOfLink: ceiling === null ? null : (100 * value) / ceiling,
    sizes: all
      .filter(({ plan }) => plan.way === way)
      .sort((a, b) => a.plan.bytes - b.plan.bytes)
      .map(rowOf),
    others: others.filter(({ plan }) => plan.way !== way).map((row) => ({ way: row.plan.way, ...rowOf(row) })),
  };
  const unbounded = unboundedBy(link);
  if (unbounded !== null) return unsupported(unbounded, { ...details, gbs: value, ci95 });
  const checks = [bounded, wholeLink(link)];
  return { ...invalidBy([bounded]), value, ci95, headline: concat(own.samples), details, checks };
}

export async function measureCopyCurve(context: MeasureContext, curve: CopyCurve): Promise<Measured<CopyCurveDetails>> {
  const session = await context.session();
  try {
    return await measured(context, session, curve);
  } catch (error) {
    const refused = pinningRefused(error);
    if (refused === null) throw error;
    return unsupported(refused);
  }
}

/** Draws the rows of `details.sizes[]`. */
export const curveChart = (title: string): LineChart => ({
  title,
  axes: { x: 'size of a copy', y: 'GB/s' },
  scales: { x: 'bytes' },
  rows: 'sizes',
  point: { x: 'bytes', y: 'gbs' },
});
