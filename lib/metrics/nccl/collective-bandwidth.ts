/** The rate of a large collective, which moves data without arithmetic. */
import * as v from 'valibot';
import { count, quantity, rows } from '../core/details.js';
import type { Collective } from '../../native/addon-types.js';
import type { Tier } from '../../results/document.js';
import { FEWEST_EFFECTIVE } from '../../stats/long-run.js';
import { median } from '../../stats/median.js';
import { serialMedian } from '../../stats/serial.js';
import { invalidBy, type MeasureContext, type Measured } from '../core/metric.js';
import { headlineBytes } from '../pcie/copy-curve.js';
import { MIB } from '../core/units.js';
import { formatBytes } from '../../results/text/format-bytes.js';
import { type Bursts, busGbs, isSimulated, JOIN_MS, resultsCheck, runBursts, waitedCheck } from './collectives.js';
import { memoryLimit, unlessUnavailable } from './gpu-workers.js';
import { linksFields, linksOf, noFasterThanLinks } from './link-ceilings.js';
import { describedRanks, join, leaveAll, type Ranks, ranksFields, withRanks } from './ranks.js';

const SIMULATED_BYTES = MIB;
/** Results side by side: a burst is then long against a meeting of the ranks. */
const MOST_OPERATIONS = 4;
const WARMUP = 1;
/** Between the roots': far more than the bursts of one. */
const SEEDS = 2 ** 16;
const ITERATIONS: Record<Tier, number> = { quick: 50, standard: 50, thorough: 200 };

export interface BandwidthPlan {
  /** Size of a result, before it is divided evenly among ranks. */
  bytes: number;
  /** In a burst, each with a result of its own. */
  operations: number;
  /** Bursts of each root. */
  bursts: number;
}

/** Root ranks in turn; a collective without one has root 0. */
type Roots = (ranks: number) => readonly number[];

export const collectiveDetails = v.strictObject({
  ranks: count('Ranks, each on a GPU of its own'),
  bytes: count('Size of a result (bytes)'),
  operations: count('Operations in a burst'),
  roots: v.optional(
    rows(
      v.strictObject({
        root: count('The root rank'),
        gbs: v.optional(quantity('GB/s', 'Median rate')),
      }),
      'A row per root, where the operation has one',
    ),
  ),
  ...linksFields,
  ...ranksFields,
});

export type CollectiveDetails = v.InferOutput<typeof collectiveDetails>;

async function planOf(context: MeasureContext, ranks: Ranks, roots: number): Promise<BandwidthPlan> {
  const { tier, iterations } = context.options;
  const limit = await memoryLimit(ranks);
  const bytes = isSimulated(context) ? SIMULATED_BYTES : headlineBytes(limit);
  // What is sent, and the results.
  const operations = Math.max(1, Math.min(MOST_OPERATIONS, Math.floor(limit / 4 / bytes)));
  const bursts = (of: number) => Math.ceil(of / operations / roots);
  const own = Math.max(FEWEST_EFFECTIVE, bursts(ITERATIONS[tier]));
  return { bytes, operations, bursts: iterations === null ? own : bursts(iterations) };
}

/** Whole KiB of every rank. */
const evenly = (bytes: number, ranks: number): number => Math.floor(bytes / (1024 * ranks)) * 1024 * ranks;

async function measured(
  context: MeasureContext,
  ranks: Ranks,
  collective: Collective,
  { plan, roots }: { plan: BandwidthPlan; roots: readonly number[] },
): Promise<Measured<CollectiveDetails>> {
  const { seed, warmup } = context.options;
  const count = ranks.workers.length;
  const bytes = evenly(plan.bytes, count);
  const links = await linksOf(ranks);
  await join(ranks.workers, JOIN_MS);
  const all: Bursts[] = [];
  for (const root of roots) {
    context.progress(`${formatBytes(bytes)}${roots.length > 1 ? ` of rank ${root}` : ''}`, all.length / roots.length);
    const { operations, bursts } = plan;
    const burst = { collective, bytes, root, operations, bursts, warmup: warmup ?? WARMUP };
    all.push(await runBursts(ranks, burst, seed + root * SEEDS));
  }
  await leaveAll(ranks.workers);
  const rates = all.map(({ operationNs }) => operationNs.map((ns) => busGbs(collective, bytes, count, ns)));
  // One sample of every root in each: their median weighs the roots alike.
  const samples = (rates[0] as Float64Array).map((_, i) => median(rates.map((own) => own[i] as number)).value);
  const { value, ci95 } = serialMedian(samples);
  const fastest = rates.map((own, i) => ({
    name: `${collective}${roots.length > 1 ? `, root ${roots[i]}` : ''}`,
    gbs: median(own).value,
    ceilingGbs: links.ceilingGbs,
  }));
  const checks = [resultsCheck(all, count), waitedCheck(all), noFasterThanLinks(fastest)];
  return {
    ...invalidBy(checks),
    value,
    ci95,
    processes: count,
    headline: samples,
    details: {
      ranks: count,
      bytes,
      operations: plan.operations,
      ...(roots.length > 1 && { roots: roots.map((root, i) => ({ root, gbs: fastest[i]?.gbs })) }),
      ...links,
      ...describedRanks(ranks),
    },
    checks,
  };
}

export const measureCollectiveBandwidth = (
  context: MeasureContext,
  collective: Collective,
  { plan, roots = () => [0] }: { plan?: BandwidthPlan; roots?: Roots } = {},
): Promise<Measured<CollectiveDetails>> =>
  unlessUnavailable(() =>
    withRanks(context, async (ranks) => {
      const all = roots(ranks.workers.length);
      const own = plan ?? (await planOf(context, ranks, all.length));
      return measured(context, ranks, collective, { plan: own, roots: all });
    }),
  );

/** Two results are of the same quantity if as many ranks exchanged as much. */
export const sameExchange = {
  name: 'ranks × bytes',
  of: ({ ranks, bytes }: Record<string, unknown>) =>
    ranks === undefined ? undefined : `${String(ranks)} × ${String(bytes)}`,
};
