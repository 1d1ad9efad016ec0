/** OH-008: what a launch pays for a compute limit that it stays far below, in tenants of one system with and without it. */
import type { Check } from '../../document.js';
import type { PacedCall, PacedLaunches } from '../../native/addon-types.js';
import { differenceOfMedians, type Pair } from '../../stats/difference.js';
import { median } from '../../stats/median.js';
import { shuffled } from '../../stats/random.js';
import type { Limits } from '../../systems/system.js';
import { concat } from '../collect.js';
import { type MeasureContext, type MetricDefinition, unsupported } from '../metric.js';
import { type LimitedWorker, startsDiffer, underOtherLimits } from '../other-limits.js';
import { type RowState, rowState } from '../row-state.js';

const CALLS: readonly PacedCall[] = [
  'cuLaunchKernel',
  'cuLaunchKernelEx',
  'cuLaunchCooperativeKernel',
  'cuGraphLaunch',
];
const HEADLINE: PacedCall = 'cuLaunchKernel';
/** One launch a millisecond of a kernel of 10 µs: a hundredth of the card's time. */
const PERIOD_NS = 1_000_000;
const SPIN_NS = 10_000;
/** A limiter that begins without tokens hands out the first ones meanwhile. */
const WARMUP = 25;
/** Of each kind, through the layer and past it. */
const LAUNCHES = { quick: 150, standard: 250, thorough: 500 } as const;
/** Of processes, one with the limit and one without. `standard` has five rounds. */
const PAIRS = { quick: 1, standard: 1, thorough: 8 } as const;
/** Of a kernel that ends at once: whether the price depends on the grid, as where tokens are blocks. */
const GRIDS = [1, 64, 4_096, 65_535];
/** A cooperative kernel must fit the card as a whole. */
const LARGEST_COOPERATIVE_GRID = 64;
const LAUNCHES_OF_GRID = 50;
const NO_LIMIT: Partial<Limits> = { smPercent: 100 };
const DEFAULT_PERCENT = 50;
/** What a launch that finds no token waits for at the least. */
const QUANTUM_NS = 10_000_000;
const ROW_DEADLINE_MS = 60_000;

interface Row {
  call: PacedCall;
  grid: number;
  spinNs: number;
  count: number;
}

interface MeasuredRow extends Row {
  /** Of each process, in the order of the pairs; `state` where one of them had none. */
  with: PacedLaunches[];
  without: PacedLaunches[];
  state: RowState | null;
}

function rowsOf({ options: { tier, iterations } }: MeasureContext): Row[] {
  const paths = CALLS.map((call) => ({ call, grid: 1, spinNs: SPIN_NS, count: iterations ?? LAUNCHES[tier] }));
  if (tier !== 'thorough') return paths;
  const grids = CALLS.flatMap((call) => GRIDS.map((grid) => ({ call, grid, spinNs: 0 })));
  const possible = grids.filter(
    ({ call, grid }) => call !== 'cuLaunchCooperativeKernel' || grid <= LARGEST_COOPERATIVE_GRID,
  );
  return [
    ...paths,
    ...possible.map((row) => ({ ...row, count: Math.min(iterations ?? LAUNCHES_OF_GRID, LAUNCHES_OF_GRID) })),
  ];
}

const isPath = ({ spinNs }: Row): boolean => spinNs > 0;
const isHeadline = (row: Row): boolean => isPath(row) && row.call === HEADLINE;

async function launchTimes(
  context: MeasureContext,
  worker: LimitedWorker,
  row: Row,
): Promise<PacedLaunches | RowState> {
  const { call, grid, spinNs, count } = row;
  const { seed, warmup } = context.options;
  const request = { call, grid, spinNs, count, warmup: warmup ?? WARMUP, periodNs: PERIOD_NS, seed };
  try {
    return (await worker.ask('pacedLaunches', request, ROW_DEADLINE_MS)) as PacedLaunches;
  } catch (error) {
    const state = isHeadline(row) ? null : rowState(error);
    if (!state) throw error;
    return state;
  }
}

/** Every row in every process; why there is nothing to measure where the layer says so of one. */
async function measureRows(context: MeasureContext, limited: Partial<Limits>): Promise<MeasuredRow[] | string> {
  const { tier, seed } = context.options;
  const rows = shuffled(rowsOf(context), seed).map((row): MeasuredRow => ({
    ...row,
    with: [],
    without: [],
    state: null,
  }));
  const order = abba(PAIRS[tier], seed);
  let unsupported: string | undefined;
  await underOtherLimits(
    context,
    order.map((kind) => (kind === 'with' ? limited : NO_LIMIT)),
    async (worker, index) => {
      unsupported ??= worker.attestation.computeLimitUnsupported;
      if (unsupported !== undefined) return;
      const kind = order[index] as 'with' | 'without';
      for (const [place, row] of rows.entries()) {
        const fraction = (index + place / rows.length) / order.length;
        context.progress(`${row.call}, process ${index + 1} of ${order.length}`, fraction);
        const times = await launchTimes(context, worker, row);
        if ('hookedNs' in times) row[kind].push(times);
        else row.state ??= times;
      }
    },
  );
  return unsupported ?? rows;
}

/** Pairs in alternating order, so that a drift meets both kinds alike. */
function abba(pairs: number, seed: number): ('with' | 'without')[] {
  return Array.from({ length: pairs }, (_, i) => i + seed).flatMap((turn) =>
    turn % 2 === 0 ? (['without', 'with'] as const) : (['with', 'without'] as const),
  );
}

/**
 * What a launch took, less what the driver's own took beside it where a layer stands between: how busy the host was in
 * each of two processes makes hundreds of nanoseconds, and is in both.
 */
const costs = ({ intercepted, hookedNs, bareNs }: PacedLaunches): number[] =>
  intercepted ? hookedNs.map((hooked, i) => hooked - (bareNs[i] as number)) : hookedNs;

const pairsOf = (row: MeasuredRow): Pair[] =>
  row.with.map((launches, i) => ({ with: costs(launches), without: costs(row.without[i] as PacedLaunches) }));

const waits = (row: MeasuredRow): number =>
  row.with.reduce((sum, { hookedNs }) => sum + hookedNs.filter((ns) => ns >= QUANTUM_NS).length, 0);

const medianOfMedians = (processes: readonly (readonly number[])[]): number =>
  median(processes.map((times) => median(times).value)).value;

function describeRow(row: MeasuredRow) {
  const { call, grid, spinNs, count, state } = row;
  const head = { call, grid, spinNs };
  if (state) return { ...head, ...state };
  const { value, ci95 } = differenceOfMedians(pairsOf(row));
  return {
    ...head,
    overheadNs: value,
    ci95,
    withNs: medianOfMedians(row.with.map(({ hookedNs }) => hookedNs)),
    withoutNs: medianOfMedians(row.without.map(({ hookedNs }) => hookedNs)),
    ...(row.with.every(({ intercepted }) => intercepted) && {
      bareWithNs: medianOfMedians(row.with.map(({ bareNs }) => bareNs)),
      bareWithoutNs: medianOfMedians(row.without.map(({ bareNs }) => bareNs)),
    }),
    count,
    waits: waits(row),
  };
}

function demandCheck(rows: readonly MeasuredRow[]): Check {
  const times = rows.filter(isPath).flatMap((row) => row.with.flatMap(({ hookedNs }) => hookedNs));
  const longest = times.reduce((a, b) => Math.max(a, b), 0);
  return {
    name: 'demand was below the budget',
    passed: longest < QUANTUM_NS,
    detail: `longest launch with the limit ${(longest / 1e6).toFixed(3)} ms, a limiter's quantum is ${QUANTUM_NS / 1e6} ms`,
  };
}

function reachCheck(differ: boolean): Check {
  return {
    name: 'the limit reaches the workers',
    passed: differ ? true : 'not checked',
    detail: differ ? 'they start with other settings' : 'they start alike with it and without',
  };
}

/** Every launch with the limit, less the median of its pair's launches without. */
const headlineSamples = (row: MeasuredRow): Float64Array =>
  concat(
    ...pairsOf(row).map((pair) => {
      const { value } = median(pair.without);
      return Float64Array.from(pair.with, (ns) => ns - value);
    }),
  );

export const rateLimiterOverhead: MetricDefinition = {
  id: 'OH-008',
  name: 'Rate Limiter Overhead',
  category: 'overhead',
  unit: 'ns',
  direction: 'lower',
  question: 'What does a compute quota cost even when you stay under it?',
  estimator:
    "median launch with the limit − median without, each less the driver's own where a layer is between, mean over pairs of processes",
  // Where the loader puts things makes two processes of one kind differ by some ten nanoseconds.
  delta: { absolute: 25 },
  needs: ['a system with a compute limit', 'fresh processes'],
  functionName: 'measureRateLimiter',
  where: 'fresh-processes',
  seconds: { quick: 4, standard: 6, thorough: 110 },
  async measure(context) {
    const { system } = context;
    if (system.capabilities.computeLimit === 'none') return unsupported('layer has no compute limit');
    const own = system.limits().smPercent ?? 100;
    const limited: Partial<Limits> = { smPercent: own < 100 ? own : DEFAULT_PERCENT };
    const reach = reachCheck(startsDiffer(system, limited, NO_LIMIT));
    const rows = await measureRows(context, limited);
    if (typeof rows === 'string') return unsupported(rows);
    const headline = rows.find(isHeadline) as MeasuredRow;
    const { value, ci95 } = differenceOfMedians(pairsOf(headline));
    const demand = demandCheck(rows);
    const pairs = headline.with.length;
    return {
      ...(!demand.passed && {
        status: 'invalid' as const,
        reason: `demand was not below the budget: ${demand.detail}`,
      }),
      value,
      ci95,
      ciScope: pairs > 1 ? 'between-processes' : 'within-process',
      processes: 2 * pairs,
      headline: headlineSamples(headline),
      ...(pairs > 1 && { blocks: Float64Array.from(pairsOf(headline), (pair) => differenceOfMedians([pair]).value) }),
      details: {
        limitPercent: limited.smPercent,
        pairs,
        calls: describeAll(rows.filter(isPath)),
        grids: describeAll(rows.filter((row) => !isPath(row))),
      },
      checks: [demand, reach],
    };
  },
};

const describeAll = (rows: readonly MeasuredRow[]) =>
  [...rows].sort((a, b) => CALLS.indexOf(a.call) - CALLS.indexOf(b.call) || a.grid - b.grid).map(describeRow);
