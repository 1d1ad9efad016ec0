/** OH-008: what a launch pays for a compute limit that it stays far below, in tenants of one system with and without it. */
import type { Check } from '../../document.js';
import type { PacedCall, PacedLaunches } from '../../native/addon-types.js';
import { meanOfMedians } from '../../stats/difference.js';
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
/** In each turn. A limiter that begins without tokens hands out the first ones meanwhile. */
const WARMUP = 4;
/** In which the two processes take each other's place, on the same core. */
const TURNS = { quick: 8, standard: 12, thorough: 20 } as const;
/** Of each kind, through the layer and past it, in all turns. */
const LAUNCHES = { quick: 120, standard: 240, thorough: 500 } as const;
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

type Kind = 'with' | 'without';

/** Of the two processes of a pair, in order. */
type Turns = Record<Kind, PacedLaunches[]>;

interface MeasuredRow extends Row {
  pairs: Turns[];
  /** Where one of the processes could not make the call. */
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
  const place = { seed: options.seed + turn, core: options.seed + turn };
  const request = { call, grid, spinNs, count, warmup: options.warmup ?? WARMUP, periodNs: PERIOD_NS, ...place };
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
  const rows = shuffled(rowsOf(context), seed).map((row): MeasuredRow => ({ ...row, pairs: [], state: null }));
  for (let pair = 0; pair < PAIRS[tier]; pair++) {
    // Alternating, so that a drift meets both kinds alike.
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
      if ('hookedNs' in launches) row.pairs[pair]?.[kind].push(launches);
      else row.state = launches;
    }
  });
  return unsupported;
}

/** `count` in so many turns, as evenly as it goes. */
const ofTurn = (count: number, turn: number, turns: number): number => Math.floor((count + turn) / turns);

/**
 * What a launch took, less what the driver's own took beside it where a layer stands between: a host that is slow for a
 * while is so for both.
 */
const costs = ({ intercepted, hookedNs, bareNs }: PacedLaunches): number[] =>
  intercepted ? hookedNs.map((hooked, i) => hooked - (bareNs[i] as number)) : hookedNs;

const cost = (launches: PacedLaunches): number => median(costs(launches)).value;

/** Of each pair, one a turn. */
const differences = ({ pairs }: MeasuredRow): number[][] =>
  pairs.map((pair) => pair.with.map((launches, turn) => cost(launches) - cost(pair.without[turn] as PacedLaunches)));

const launchesOf = ({ pairs }: MeasuredRow, kind: Kind): PacedLaunches[] => pairs.flatMap((pair) => pair[kind]);

const waits = (row: MeasuredRow): number =>
  launchesOf(row, 'with').reduce((sum, { hookedNs }) => sum + hookedNs.filter((ns) => ns >= QUANTUM_NS).length, 0);

const medianNs = (launches: readonly PacedLaunches[], of: 'hookedNs' | 'bareNs'): number =>
  median(launches.map((one) => median(one[of]).value)).value;

function describeRow(row: MeasuredRow) {
  const { call, grid, spinNs, count, state } = row;
  const head = { call, grid, spinNs };
  if (state) return { ...head, ...state };
  const { value, ci95 } = meanOfMedians(differences(row));
  const [limited, free] = [launchesOf(row, 'with'), launchesOf(row, 'without')];
  return {
    ...head,
    overheadNs: value,
    ci95,
    withNs: medianNs(limited, 'hookedNs'),
    withoutNs: medianNs(free, 'hookedNs'),
    ...(limited.every(({ intercepted }) => intercepted) && {
      bareWithNs: medianNs(limited, 'bareNs'),
      bareWithoutNs: medianNs(free, 'bareNs'),
    }),
    count,
    waits: waits(row),
  };
}

function demandCheck(rows: readonly MeasuredRow[]): Check {
  const limited = rows.filter(isPath).flatMap((row) => launchesOf(row, 'with'));
  const times = limited.flatMap(({ hookedNs }) => hookedNs);
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

/** Every launch with the limit, less the median of those without in the same turn. */
const headlineSamples = ({ pairs }: MeasuredRow): Float64Array =>
  concat(
    ...pairs.flatMap((pair) =>
      pair.with.map((launches, turn) => {
        const without = cost(pair.without[turn] as PacedLaunches);
        return Float64Array.from(costs(launches), (ns) => ns - without);
      }),
    ),
  );

export const rateLimiterOverhead: MetricDefinition = {
  id: 'OH-008',
  name: 'Rate Limiter Overhead',
  category: 'overhead',
  unit: 'ns',
  direction: 'lower',
  question: 'What does a compute quota cost even when you stay under it?',
  estimator:
    "median over turns of the launch with the limit − without, less the driver's own where a layer is between; mean over pairs of processes",
  // Where the loader puts things makes two processes of one kind differ by some ten nanoseconds.
  delta: { absolute: 25 },
  needs: ['a system with a compute limit', 'fresh processes'],
  functionName: 'measureRateLimiter',
  where: 'fresh-processes',
  seconds: { quick: 4, standard: 6, thorough: 150 },
  async measure(context) {
    const { system } = context;
    if (system.capabilities.computeLimit === 'none') return unsupported('layer has no compute limit');
    const own = system.limits().smPercent ?? 100;
    const limited: Partial<Limits> = { smPercent: own < 100 ? own : DEFAULT_PERCENT };
    const reach = reachCheck(startsDiffer(system, limited, NO_LIMIT));
    const rows = await measureRows(context, limited);
    if (typeof rows === 'string') return unsupported(rows);
    const headline = rows.find(isHeadline) as MeasuredRow;
    const ofPairs = differences(headline);
    const { value, ci95 } = meanOfMedians(ofPairs);
    const demand = demandCheck(rows);
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
      blocks: Float64Array.from(pairs > 1 ? ofPairs.map((turns) => median(turns).value) : (ofPairs[0] ?? [])),
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
