/** OH-007: how the cost of an allocation and a free grows with the number of live blocks, which a layer may track. */
import * as v from 'valibot';
import { count, described, interval, quantity, rowOrReason, rows, text } from '../core/details.js';
import { percent } from '../../environment/machine-health.js';
import type { LiveSetCell } from '../../native/addon-types.js';
import { BenchError } from '../../errors/bench-error.js';
import { CudaError } from '../../native/errors.js';
import type { Session } from '../../native/session.js';
import { median, type MedianEstimate } from '../../stats/median.js';
import { shuffled } from '../../stats/random.js';
import { serialMedian, serialTrimmedMean } from '../../stats/serial.js';
import { trimmed } from '../../stats/trimmed-mean.js';
import { at, type Cell, type Line, theilSen, theilSenCi95 } from '../../stats/theil-sen.js';
import { bareOf, bulkCheck, grownCheck, invalidIfHidden } from '../served/bulk.js';
import { concat } from '../core/collect.js';
import type { MeasureContext, MetricDefinition } from '../core/metric.js';
import { invalidIfKept, returnedCheck } from '../core/returned-memory.js';
import { type RowState, rowState } from '../core/row-state.js';
import { formatBytes } from '../../results/text/format-bytes.js';
import { allocationPairRow, allocationPairs, ownedPairFields } from './allocation-pairs.js';
import { memoryRoom } from './memory-sizes.js';
import { measureFunction } from '../core/measure-function.js';

const BYTES = 64 * 1024;
/** The value is the line's at this number. */
const HEADLINE_LIVE = 1_024;
const LIVES = {
  quick: [0, 256, 1_024, 4_096],
  standard: [0, 256, 1_024, 4_096, 16_384],
  thorough: [0, 256, 1_024, 4_096, 16_384],
} as const;
/**
 * Cells up to this are on the line, at every tier. Beyond it a list or tree outgrows a cache level and the line bends
 * (on an H200 a pair with 16 384 blocks costs twice the line's value under HAMi-core, half of it natively).
 */
const LARGEST_ON_LINE = 4_096;
/** Pairs per cell. `standard` has five processes. */
const PAIRS = { quick: 200, standard: 250, thorough: 500 } as const;
const WARMUP = 5;
/**
 * Passes through the cells of the line, each on the next core, so that other activity of the host affects all cells. A
 * visit takes a millisecond, and a busy hyper-thread makes all of it 40 % slower: this moves a trimmed mean over visits
 * a little, whereas a median over all pairs jumps from one level to the other (seen on an H200, cells 30 % off their
 * line).
 */
const PASSES = 10;
/** The passes, and the pairs. */
const STEPS = PASSES + 1;
/** A single query is as short as two clock readings. */
const QUERIES = 16;
const QUERY = 'cuPointerGetAttribute';
const LARGEST_RESIDUAL_CV = 0.2;

/** A number of live blocks, with the results of each visit to it. */
interface VisitedCell {
  live: number;
  visits: LiveSetCell[];
}

interface Measured {
  cells: VisitedCell[];
  /** Why cuPointerGetAttribute has no result, or null. */
  queryState: RowState | null;
}

async function measureCells(context: MeasureContext, session: Session, lives: readonly number[]): Promise<Measured> {
  if (context.headlineOnly) return { cells: await inPasses(context, session, lives, 0), queryState: null };
  try {
    return { cells: await inPasses(context, session, lives, QUERIES), queryState: null };
  } catch (error) {
    const queryState = isOfQuery(error) ? rowState(error) : null;
    if (!queryState) throw error;
    return { cells: await inPasses(context, session, lives, 0), queryState };
  }
}

async function inPasses(
  { options, progress }: MeasureContext,
  session: Session,
  lives: readonly number[],
  queries: number,
) {
  const { iterations, tier, seed } = options;
  const count = iterations ?? PAIRS[tier];
  const request = { bytes: BYTES, warmup: options.warmup ?? WARMUP, queries };
  const visits = lives.map((live): VisitedCell => ({ live, visits: [] }));
  const measure = async (some: readonly number[], pairs: number, turn: number) => {
    const order = shuffled(some, turn);
    const cells = await session.block('liveSets', { ...request, lives: order, count: pairs, seed: turn, core: turn });
    for (const cell of cells) visits[lives.indexOf(cell.live)]?.visits.push(cell);
  };
  for (let pass = 0; pass < PASSES; pass++) {
    progress(`${lives.length} numbers of live blocks`, pass / STEPS);
    const pairs = Math.floor((count + pass) / PASSES);
    if (pairs > 0) await measure(lives.filter(isOnLine), pairs, seed + pass);
  }
  const beyond = lives.filter((live) => !isOnLine(live));
  if (beyond.length > 0) await measure(beyond, count, seed + PASSES);
  return visits;
}

const isOnLine = (live: number): boolean => live <= LARGEST_ON_LINE;

const isOfQuery = (error: unknown): boolean =>
  error instanceof CudaError
    ? error.call === QUERY
    : error instanceof BenchError && error.code === 'FUNCTION_MISSING' && error.message.startsWith(QUERY);

const pairsOf = ({ allocNs, freeNs }: LiveSetCell): Float64Array => allocNs.map((ns, i) => ns + (freeNs[i] as number));

const lineFields = {
  slopeNsPerBlock: quantity('ns', 'What each live block adds'),
  slopeCi95: interval('ns', 'slopeNsPerBlock'),
  interceptNs: quantity('ns', 'The line at no live block'),
  residualCv: described(v.number(), 'Residual standard deviation of the line, relative to the mean of the cells'),
};

interface Fit {
  valueNs: number;
  ci95: [number, number] | null;
  slopeNsPerBlock: number;
  slopeCi95: [number, number] | null;
  interceptNs: number;
  residualCv: number;
}

/**
 * A line through the cells with live blocks, up to the largest on the line. A single block maps and unmaps its granule
 * each time (45 us instead of 1.2 with others, on an H200): another path through the driver, so no point of the line.
 */
function fit(measured: readonly VisitedCell[], of: (visit: LiveSetCell) => Float64Array, seed: number): Fit {
  const onLine = measured.filter(({ live }) => live > 0 && isOnLine(live));
  const cells = onLine.map(({ live, visits }): Cell => ({
    x: live,
    values: visits.map((visit) => median(of(visit)).value),
  }));
  const points = cells.map(({ x, values }) => ({ x, y: trimmed(values) }));
  const line = theilSen(points);
  const intervals = theilSenCi95(cells, HEADLINE_LIVE, seed);
  return {
    valueNs: at(line, HEADLINE_LIVE),
    ci95: intervals?.at ?? null,
    slopeNsPerBlock: line.slope,
    slopeCi95: intervals?.slope ?? null,
    interceptNs: line.intercept,
    residualCv: residualCv(line, points),
  };
}

/** The residual standard deviation of the line (two parameters), relative to the mean of the cells. */
function residualCv(line: Line, points: readonly { x: number; y: number }[]): number {
  const squares = points.reduce((sum, { x, y }) => sum + (y - at(line, x)) ** 2, 0);
  const level = points.reduce((sum, { y }) => sum + y, 0) / points.length;
  return Math.sqrt(squares / (points.length - 2)) / Math.abs(level);
}

/** Uses visits as samples, because they vary more than the samples of one; for a single visit its own median. */
function overVisits(visits: readonly Float64Array[]): MedianEstimate {
  const [first] = visits;
  return first && visits.length === 1
    ? serialMedian(first)
    : serialTrimmedMean(visits.map((visit) => median(visit).value));
}

const describeCell =
  (line: Line) =>
  ({ live, visits }: VisitedCell) => {
    const over = (of: (visit: LiveSetCell) => Float64Array) => overVisits(visits.map(of));
    const { value, ci95 } = over(pairsOf);
    return {
      live,
      pairNs: value,
      ci95,
      ...(live > 0 && { lineNs: at(line, live) }),
      allocNs: over(({ allocNs }) => allocNs).value,
      freeNs: over(({ freeNs }) => freeNs).value,
      ...(visits.every(({ queryNs }) => queryNs.length > 0) && { queryNs: over(({ queryNs }) => queryNs).value }),
      count: visits.reduce((sum, { allocNs }) => sum + allocNs.length, 0),
    };
  };

function describeCalls({ cells, queryState }: Measured, seed: number) {
  return [
    { call: 'cuMemAlloc', ...fit(cells, ({ allocNs }) => allocNs, seed) },
    { call: 'cuMemFree', ...fit(cells, ({ freeNs }) => freeNs, seed) },
    { call: QUERY, ...(queryState ?? fit(cells, ({ queryNs }) => queryNs, seed)) },
  ];
}

/** A line for each call, and what a layer adds to each, and to both. */
async function callsAndPairs(context: MeasureContext, measured: Measured, limit: number) {
  context.progress('pairs', PASSES / STEPS);
  const paired = { bytes: BYTES, live: HEADLINE_LIVE, order: 'random', limit } as const;
  const { pairs, together } = await allocationPairs(context, paired, ['allocation', 'free']);
  return {
    calls: describeCalls(measured, context.options.seed),
    pairs,
    ...(together && { pairsTogether: together }),
  };
}

/** The pairs' own times are those of the driver alone; among live blocks, as on the line. */
function hiddenChecks(cells: readonly VisitedCell[], pairs: unknown) {
  const visits = cells.flatMap(({ live, visits: of }) => (live > 0 && isOnLine(live) ? of : []));
  const loopNs = concat(...visits.map(pairsOf));
  const served = (name: string, of: (visit: LiveSetCell) => Float64Array) => ({
    call: `${name} of ${formatBytes(BYTES)}`,
    samplesNs: concat(...visits.map(of)),
    bareNs: bareOf(pairs, `${name}_v2`),
    loopNs,
  });
  const memory = visits.map(({ live, usedBefore, usedLive }) => ({
    call: `cuMemAlloc of ${formatBytes(BYTES)}`,
    bytes: live * BYTES,
    usedBefore,
    usedLive,
  }));
  return [
    bulkCheck([served('cuMemAlloc', ({ allocNs }) => allocNs), served('cuMemFree', ({ freeNs }) => freeNs)]),
    grownCheck(memory),
  ];
}

/** Room for half of the memory that this process may use. */
function roomFor(lives: readonly number[], limit: number) {
  const fits = (live: number) => live * BYTES <= limit / 2;
  const reason = `more than half of the ${limit} bytes this process may use`;
  return {
    lives: lives.filter(fits),
    leftOut: lives.filter((live) => !fits(live)).map((live) => ({ live, unsupported: reason })),
  };
}

const details = v.strictObject({
  limitBytes: count('Memory that the process may use (bytes)'),
  bytes: count('Size of a block (bytes)'),
  leftOut: rows(
    v.strictObject({ live: count('Live blocks'), unsupported: text('Why so many have no cell') }),
    'Numbers of live blocks that were left out',
  ),
  ...lineFields,
  cells: rows(
    v.strictObject({
      live: count('Live blocks'),
      pairNs: quantity('ns', 'An allocation and its free'),
      ci95: interval('ns', 'pairNs'),
      lineNs: v.optional(quantity('ns', 'The same on the line')),
      allocNs: quantity('ns', 'An allocation'),
      freeNs: quantity('ns', 'A free'),
      queryNs: v.optional(quantity('ns', 'A call of cuPointerGetAttribute')),
      count: count('Pairs of an allocation and its free'),
    }),
    'A row per number of live blocks: trimmed means over visits of the median in each',
  ),
  calls: v.optional(
    rows(
      rowOrReason(
        { call: text('The call') },
        {
          valueNs: quantity('ns', 'The call at 1 024 live blocks, on its line'),
          ci95: interval('ns', 'valueNs'),
          ...lineFields,
        },
      ),
      'The line of each call',
    ),
  ),
  pairs: v.optional(
    rows(allocationPairRow, "Both calls through the application's pointer and through the driver's own, in turn"),
  ),
  pairsTogether: v.optional(described(v.strictObject(ownedPairFields), 'The pair of an allocation and its free')),
});

export type MemoryTrackingDetails = v.InferOutput<typeof details>;

export const memoryTrackingOverhead: MetricDefinition<MemoryTrackingDetails> = {
  id: 'OH-007',
  name: 'Memory Tracking Overhead',
  category: 'overhead',
  unit: 'ns',
  direction: 'lower',
  question: 'Do long-lived allocators (KV blocks, caches) slow down as they grow?',
  estimator:
    'alloc + free of 64 KiB at 1 024 live blocks, on the Theil–Sen line through 256, 1 024 and 4 096: of each the trimmed mean over visits of the median in each',
  // A pair is two timed calls, each of which may be off by 50 ns beside a busy hyper-thread.
  delta: { absolute: 100 },
  pairs: 'pairs',
  needs: [],
  costOf: 'allocation + free at 1 024 live blocks',
  functionName: 'measureMemoryTracking',
  where: 'process',
  lineCharts: [
    {
      title: 'Allocation latency against live allocations',
      axes: { x: 'live blocks, without the first', y: 'ns, an allocation and its free' },
      rows: 'cells',
      point: { x: 'live', y: 'pairNs' },
      // A single block takes another path through the driver and is no point of the line.
      fromX: 1,
    },
  ],
  details,
  seconds: { quick: 1, standard: 1, thorough: 2 },
  furtherProcesses: { seconds: 0.3, disturbed: /^cells off the line/ },
  async measure(context) {
    const session = await context.session();
    const { tier, seed } = context.options;
    const { limit } = await memoryRoom(session);
    const wanted = LIVES[tier].filter((live) => !context.headlineOnly || (live > 0 && isOnLine(live)));
    const { lives, leftOut } = roomFor(wanted, limit);
    const room = { limitBytes: limit, bytes: BYTES, leftOut };
    if (!lives.includes(LARGEST_ON_LINE)) {
      const needed = formatBytes(LARGEST_ON_LINE * BYTES);
      const reason = `${LARGEST_ON_LINE} blocks of 64 KiB (${needed}) are more than half of the ${limit} bytes this process may use`;
      return { status: 'unsupported', reason, value: null, ci95: null, headline: null, details: room, checks: [] };
    }
    const measured = await measureCells(context, session, lives);
    const { cells } = measured;
    const { valueNs, ci95, ...line } = fit(cells, pairsOf, seed);
    const more = context.headlineOnly ? {} : await callsAndPairs(context, measured, limit);
    const leak = returnedCheck(cells.flatMap(({ visits }) => visits));
    const hidden = hiddenChecks(cells, 'pairs' in more ? more.pairs : null);
    const check = {
      name: 'the cells lie on a line',
      passed: line.residualCv < LARGEST_RESIDUAL_CV,
      detail: `residual CV ${percent(line.residualCv)}, below ${100 * LARGEST_RESIDUAL_CV} % wanted`,
    };
    return {
      ...(!check.passed && { status: 'invalid' as const, reason: `cells off the line: ${check.detail}` }),
      ...invalidIfKept(leak),
      ...invalidIfHidden(hidden),
      value: valueNs,
      ci95,
      headline: concat(...(cells.find(({ live }) => live === HEADLINE_LIVE)?.visits ?? []).map(pairsOf)),
      details: {
        ...room,
        ...line,
        cells: cells.map(describeCell({ slope: line.slopeNsPerBlock, intercept: line.interceptNs })),
        ...more,
      },
      checks: [check, leak, ...hidden],
    };
  },
};

/**
 * OH-007, ns: one cuMemAlloc and one cuMemFree of 64 KiB at 1 024 live blocks, on a line through 0 to 16 384 (`quick`:
 * 4 096) of them; `details.slopeNsPerBlock` is what each live block adds, `details.pairs[]` what a layer adds to either call among 1 024, and
 * `details.pairsTogether` to both. `iterations` is the pairs of a cell;
 * `resolution` does not apply.
 */
export const measureMemoryTracking = measureFunction(memoryTrackingOverhead);
