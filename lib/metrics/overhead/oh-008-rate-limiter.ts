/**
 * OH-008: the cost of a compute limit to a launch that stays far below it, in tenants of one system with and without
 * it.
 */
import * as v from 'valibot';
import { choice, count, interval, quantity, rowOrReason, rows } from '../core/details.js';
import type { PacedCall, PacedLaunches } from '../../native/addon-types.js';
import type { Check } from '../../results/document.js';
import { meanOfMedians } from '../../stats/rule/difference.js';
import { median } from '../../stats/median.js';
import { shuffled } from '../../stats/random.js';
import type { Limits } from '../../systems/system.js';
import { concat } from '../core/collect.js';
import { type MeasureContext, type MetricDefinition, unsupported } from '../core/metric.js';
import { type LimitedWorker, startsDiffer, underOtherLimits } from '../core/other-limits.js';
import { type RowState, rowState } from '../core/row-state.js';
import { demandCheck, waitsIn } from './launch-waits.js';
import { measureFunction } from '../core/measure-function.js';

const CALLS = [
  'cuLaunchKernel',
  'cuLaunchKernelEx',
  'cuLaunchCooperativeKernel',
  'cuGraphLaunch',
] as const satisfies readonly PacedCall[];
const HEADLINE: PacedCall = 'cuLaunchKernel';
/** One launch of a 10 µs kernel per millisecond: a hundredth of the card's time. */
const PERIOD_NS = 1_000_000;
const SPIN_NS = 10_000;
/** Warm-up launches per turn, during which a limiter that begins without tokens hands out the first ones. */
const WARMUP = 3;
/** Turns in which the two processes alternate on the same core. */
const TURNS = { quick: 10, standard: 24, thorough: 40 } as const;
/** Launches over all turns. */
const LAUNCHES = { quick: 200, standard: 480, thorough: 1_000 } as const;
/** Pairs of processes, one with the limit and one without. `standard` has five rounds. */
const PAIRS = { quick: 1, standard: 1, thorough: 8 } as const;
/** Grids of a kernel that ends at once: shows whether the cost depends on the grid, as when tokens are blocks. */
const GRIDS = [1, 64, 4_096, 65_535];
/** A cooperative kernel must fit on the card as a whole. */
const LARGEST_COOPERATIVE_GRID = 64;
const LAUNCHES_OF_GRID = 100;
const NO_LIMIT: Partial<Limits> = { smPercent: 100 };
const DEFAULT_PERCENT = 50;
const ROW_DEADLINE_MS = 60_000;

interface Row {
  call: PacedCall;
  grid: number;
  spinNs: number;
  count: number;
}

type Kind = 'with' | 'without';

/** Turns of the two processes of a pair, in order. */
type Turns = Record<Kind, Float64Array[]>;

interface MeasuredRow extends Row {
  pairs: Turns[];
  /** Its turns with the limit, from all pairs. */
  limited: PacedLaunches[];
  /** Set if one of the processes could not make the call. */
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
  { options }: MeasureContext,
  worker: LimitedWorker,
  row: Row,
  { turn, count }: { turn: number; count: number },
): Promise<PacedLaunches | RowState> {
  const { call, grid, spinNs } = row;
  const warmup = options.warmup ?? WARMUP;
  const request = { call, grid, spinNs, count, warmup, periodNs: PERIOD_NS, core: options.seed + turn };
  try {
    return await worker.ask('pacedLaunches', request, ROW_DEADLINE_MS);
  } catch (error) {
    const state = isHeadline(row) ? null : rowState(error);
    if (!state) throw error;
    return state;
  }
}

/** Measures every row in every process; returns the reason if the layer says of one that it cannot be measured. */
async function measureRows(context: MeasureContext, limited: Partial<Limits>): Promise<MeasuredRow[] | string> {
  const { tier, seed } = context.options;
  const rows = shuffled(rowsOf(context), seed).map((row): MeasuredRow => ({
    ...row,
    pairs: [],
    limited: [],
    state: null,
  }));
  for (let pair = 0; pair < PAIRS[tier]; pair++) {
    // Alternating, so that drift affects both kinds equally.
    const kinds: readonly Kind[] = (seed + pair) % 2 === 0 ? ['without', 'with'] : ['with', 'without'];
    const unsupported = await measurePair(context, limited, kinds, rows, pair);
    if (unsupported !== null) return unsupported;
  }
  return rows;
}

async function measurePair(
  context: MeasureContext,
  limited: Partial<Limits>,
  kinds: readonly Kind[],
  rows: readonly MeasuredRow[],
  pair: number,
): Promise<string | null> {
  const { tier } = context.options;
  let unsupported: string | null = null;
  for (const row of rows) row.pairs.push({ with: [], without: [] });
  const limits = kinds.map((kind) => (kind === 'with' ? limited : NO_LIMIT));
  await underOtherLimits(context, limits, TURNS[tier], async (worker, place, turn) => {
    unsupported ??= worker.attestation.computeLimitUnsupported ?? null;
    if (unsupported !== null) return;
    const kind = kinds[place] as Kind;
    context.progress(`pair ${pair + 1} of ${PAIRS[tier]}, ${kind} limit`, (pair + turn / TURNS[tier]) / PAIRS[tier]);
    for (const row of rows) {
      const count = ofTurn(row.count, turn, TURNS[tier]);
      if (row.state || count === 0) continue;
      const launches = await launchTimes(context, worker, row, { turn, count });
      if (!('tookNs' in launches)) {
        row.state = launches;
        continue;
      }
      row.pairs[pair]?.[kind].push(Float64Array.from(launches.tookNs));
      if (kind === 'with') row.limited.push(launches);
    }
  });
  return unsupported;
}

/** Distributes `count` over the turns as evenly as possible. */
const ofTurn = (count: number, turn: number, turns: number): number => Math.floor((count + turn) / turns);

/** For each pair, one difference per turn. */
const differences = ({ pairs }: MeasuredRow): number[][] =>
  pairs.map((pair) => pair.with.map((times, turn) => medianOf(times) - medianOf(pair.without[turn] as Float64Array)));

const medianOf = (times: ArrayLike<number>): number => median(times).value;

const timesOf = ({ pairs }: MeasuredRow, kind: Kind): Float64Array[] => pairs.flatMap((pair) => pair[kind]);

function describeRow(row: MeasuredRow) {
  const { call, grid, spinNs, count, state } = row;
  const head = { call, grid, spinNs };
  if (state) return { ...head, ...state };
  const { value, ci95 } = meanOfMedians(differences(row));
  return {
    ...head,
    overheadNs: value,
    ci95,
    withNs: medianOf(timesOf(row, 'with').map(medianOf)),
    withoutNs: medianOf(timesOf(row, 'without').map(medianOf)),
    count,
    waits: waitsIn(row.limited).length,
  };
}

function reachCheck(differ: boolean): Check {
  return {
    name: 'the limit reaches the workers',
    passed: differ ? true : 'not checked',
    detail: differ ? 'they start with other settings' : 'they start alike with it and without',
  };
}

/** Every launch with the limit, minus the median of those without in the same turn. */
const headlineSamples = ({ pairs }: MeasuredRow): Float64Array =>
  concat(
    ...pairs.flatMap((pair) =>
      pair.with.map((times, turn) => {
        const without = medianOf(pair.without[turn] as Float64Array);
        return times.map((ns) => ns - without);
      }),
    ),
  );

const launchRow = rowOrReason(
  {
    call: choice(CALLS, 'The launch call'),
    grid: count('Blocks of the grid'),
    spinNs: quantity('ns', 'How long the kernel runs'),
  },
  {
    overheadNs: quantity('ns', 'What the limit adds to a launch: median over turns, mean over pairs of processes'),
    ci95: interval('ns', 'overheadNs'),
    withNs: quantity('ns', 'Median launch with the limit'),
    withoutNs: quantity('ns', 'Median launch without it'),
    count: count('Launches of each process'),
    waits: count('Launches with the limit that waited for tokens'),
  },
);

const details = v.strictObject({
  limitPercent: quantity('%', 'The limit of the tenant with one'),
  pairs: count('Pairs of processes, one with the limit and one without'),
  calls: rows(launchRow, 'A row per launch call, of a kernel of 10 us'),
  grids: rows(launchRow, 'A row per launch call and grid, of a kernel that ends at once'),
});

export type RateLimiterDetails = v.InferOutput<typeof details>;

export const rateLimiterOverhead: MetricDefinition<RateLimiterDetails> = {
  id: 'OH-008',
  name: 'Rate Limiter Overhead',
  category: 'overhead',
  unit: 'ns',
  direction: 'lower',
  question: 'What does a compute quota cost even when you stay under it?',
  estimator: 'median launch with the limit − median without: median over turns, mean over pairs of processes',
  // Memory layout by the loader makes two processes of one kind differ by some ten nanoseconds.
  delta: { absolute: 25 },
  values: { grid: 1 },
  needs: ['a system with a compute limit', 'fresh processes'],
  functionName: 'measureRateLimiter',
  where: 'fresh-processes',
  details,
  seconds: { quick: 4, standard: 6, thorough: 150 },
  async measure(context) {
    const { system } = context;
    if (system.capabilities.computeLimit === 'none') return unsupported('layer has no compute limit');
    if (system.capabilities.computeLimit === 'hardware')
      return unsupported('the limit is a partition of the hardware, which no launch passes through');
    const own = system.limits().smPercent ?? 100;
    const limitPercent = own < 100 ? own : DEFAULT_PERCENT;
    const limited: Partial<Limits> = { smPercent: limitPercent };
    const reach = reachCheck(startsDiffer(system, limited, NO_LIMIT));
    const rows = await measureRows(context, limited);
    if (typeof rows === 'string') return unsupported(rows);
    const headline = rows.find(isHeadline) as MeasuredRow;
    const ofPairs = differences(headline);
    const { value, ci95 } = meanOfMedians(ofPairs);
    const demand = demandCheck(rows.filter(isPath).flatMap(({ limited: turns }) => turns));
    const pairs = ofPairs.length;
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
      blocks: Float64Array.from(pairs > 1 ? ofPairs.map(medianOf) : (ofPairs[0] ?? [])),
      details: {
        limitPercent,
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

/**
 * OH-008, ns: what a launch takes longer in a tenant with a compute limit than in one without, far below the limit. It
 * needs a system that sets limits: in the current environment it is `unsupported`; use `compareSystems`.
 */
export const measureRateLimiter = measureFunction(rateLimiterOverhead);
