/** NCCL-001: how long an all-reduce takes, by size. */
import * as v from 'valibot';
import { count, interval, quantity, rows } from '../core/details.js';
import type { Tier } from '../../results/document.js';
import { shuffled } from '../../stats/random.js';
import { serialMedian } from '../../stats/serial.js';
import { measureFunction } from '../core/measure-function.js';
import { invalidBy, type MeasureContext, type Measured, type MetricDefinition } from '../core/metric.js';
import { MIB, NS_PER_US, scaled, scaledSamples } from '../core/units.js';
import { formatBytes } from '../../results/text/format-bytes.js';
import {
  type Bursts,
  busGbs,
  isSimulated,
  JOIN_MS,
  operationsOf,
  resultsCheck,
  roomForResults,
  runBursts,
  waitedCheck,
} from './collectives.js';
import { unlessUnavailable } from './gpu-workers.js';
import { linksFields, linksOf, noFasterThanLinks } from './link-ceilings.js';
import { describedRanks, join, leaveAll, type Ranks, ranksFields, withRanks } from './ranks.js';

const KIB = 1024;
/** About what the activations of a token are, of which a layer of tensor parallelism adds up two. */
const HEADLINE = 8 * KIB;
const COLLECTIVE = 'ncclAllReduce';
const WARMUP = 1;

export interface AllReducePlan {
  /** In bytes; the headline is among them. */
  sizes: readonly number[];
  /** In a burst, at most. */
  operations: number;
  /** Bursts of the headline, and of each other size. */
  bursts: number;
  otherBursts: number;
}

const SIZES = [
  8,
  32,
  128,
  512,
  2 * KIB,
  HEADLINE,
  32 * KIB,
  128 * KIB,
  512 * KIB,
  2 * MIB,
  8 * MIB,
  32 * MIB,
  64 * MIB,
];
const BURSTS: Record<Tier, Pick<AllReducePlan, 'bursts' | 'otherBursts'>> = {
  quick: { bursts: 12, otherBursts: 6 },
  standard: { bursts: 20, otherBursts: 8 },
  thorough: { bursts: 60, otherBursts: 20 },
};

function planOf(context: MeasureContext): AllReducePlan {
  const { tier, iterations } = context.options;
  const bursts = { ...BURSTS[tier], ...(iterations !== null && { bursts: iterations }) };
  return isSimulated(context)
    ? { ...bursts, sizes: SIZES.filter((size) => size <= 128 * KIB), operations: 10 }
    : { ...bursts, sizes: SIZES, operations: 1000 };
}

function rowOf({ burst, operationNs }: Bursts, ranks: number) {
  const { bytes, operations } = burst;
  const { value, ci95 } = serialMedian(operationNs);
  const us = scaled({ value, ci95 }, NS_PER_US);
  const busGbPerSecond = busGbs(COLLECTIVE, bytes, ranks, value);
  return { bytes, operations, us: us.value, ci95: us.ci95, busGbPerSecond, count: operationNs.length };
}

async function measuredSizes(context: MeasureContext, ranks: Ranks, plan: AllReducePlan): Promise<Bursts[]> {
  const { seed, warmup } = context.options;
  const room = await roomForResults(ranks);
  const sizes = shuffled(
    plan.sizes.filter((size) => size <= Math.max(room, HEADLINE)),
    seed,
  );
  const all: Bursts[] = [];
  await join(ranks.workers, JOIN_MS);
  for (const bytes of sizes) {
    context.progress(formatBytes(bytes), all.length / sizes.length);
    const burst = {
      collective: COLLECTIVE,
      bytes,
      root: 0,
      operations: operationsOf(bytes, room, plan.operations),
      bursts: bytes === HEADLINE ? plan.bursts : plan.otherBursts,
      warmup: warmup ?? WARMUP,
    } as const;
    all.push(await runBursts(ranks, burst, seed + all.length * plan.operations));
  }
  await leaveAll(ranks.workers);
  return all;
}

async function measured(
  context: MeasureContext,
  ranks: Ranks,
  plan: AllReducePlan,
): Promise<Measured<AllReduceDetails>> {
  const count = ranks.workers.length;
  const links = await linksOf(ranks);
  const all = await measuredSizes(context, ranks, plan);
  const own = all.find(({ burst }) => burst.bytes === HEADLINE) as Bursts;
  const table = all.map((bursts) => rowOf(bursts, count)).sort((a, b) => a.bytes - b.bytes);
  const rates = table.map(({ bytes, busGbPerSecond }) => ({
    name: `all-reduce of ${formatBytes(bytes)}`,
    gbs: busGbPerSecond,
    ceilingGbs: links.ceilingGbs,
  }));
  const checks = [resultsCheck(all, count), waitedCheck(all), noFasterThanLinks(rates)];
  const { value, ci95 } = scaled(serialMedian(own.operationNs), NS_PER_US);
  return {
    ...invalidBy(checks),
    value,
    ci95,
    processes: count,
    headline: scaledSamples(own.operationNs, NS_PER_US),
    details: {
      ranks: count,
      bytes: HEADLINE,
      sizes: table,
      busGbPerSecond: table.at(-1)?.busGbPerSecond,
      ...links,
      ...describedRanks(ranks),
    },
    checks,
  };
}

/** With a given plan, for tests. */
export const allReduceBy =
  (plan?: AllReducePlan): MetricDefinition<AllReduceDetails>['measure'] =>
  (context) =>
    unlessUnavailable(() => withRanks(context, (ranks) => measured(context, ranks, plan ?? planOf(context))));

const details = v.strictObject({
  ranks: count('Ranks, each on a GPU of its own'),
  bytes: count('Bytes on each rank of the operation behind the value'),
  sizes: rows(
    v.strictObject({
      bytes: count('Bytes on each rank'),
      operations: count('Operations in a burst'),
      us: quantity('us', 'Median time of an operation'),
      ci95: interval('us', 'us'),
      busGbPerSecond: quantity('GB/s', 'Bus bandwidth, as nccl-tests counts it'),
      count: count('Bursts'),
    }),
    'A row per size',
  ),
  busGbPerSecond: v.optional(quantity('GB/s', 'Bus bandwidth of the largest size')),
  ...linksFields,
  ...ranksFields,
});

export type AllReduceDetails = v.InferOutput<typeof details>;

export const allReduceLatency: MetricDefinition<AllReduceDetails> = {
  id: 'NCCL-001',
  name: 'AllReduce Latency',
  category: 'nccl',
  unit: 'us',
  direction: 'lower',
  question: 'What does synchronising the ranks of tensor parallelism cost in every layer?',
  estimator: 'time of ncclAllReduce of 8 KiB in FP32 in bursts of up to 1 000, slowest rank, median over bursts',
  delta: { relative: 0.05 },
  comparedAt: { name: 'ranks', of: ({ ranks }) => ranks },
  needs: ['two GPUs', 'NCCL'],
  functionName: 'measureAllReduce',
  where: 'fresh-processes',
  lineCharts: [
    {
      title: 'All-reduce time against size',
      axes: { x: 'bytes on each rank', y: 'µs' },
      rows: 'sizes',
      point: { x: 'bytes', y: 'us' },
    },
    {
      title: 'All-reduce bus bandwidth against size',
      axes: { x: 'bytes on each rank', y: 'GB/s' },
      rows: 'sizes',
      point: { x: 'bytes', y: 'busGbPerSecond' },
    },
  ],
  details,
  seconds: { quick: 15, standard: 20, thorough: 45 },
  measure: allReduceBy(),
};

/**
 * NCCL-001, us: median time of an ncclAllReduce of 8 KiB of FP32 numbers on all visible GPUs, with one process per GPU,
 * in bursts of up to 1 000 between two meetings of the ranks. Every sum of every burst is verified exactly.
 * `details.sizes[]` has 8 B to 64 MiB with the bus bandwidth as nccl-tests counts it, which may not exceed what the
 * links carry (`details.ceilingGbs`). NCCL is found where LD_LIBRARY_PATH names its folder; NVLink multicast is off.
 * `iterations` is the number of bursts; `resolution` does not apply.
 */
export const measureAllReduce = measureFunction(allReduceLatency);
