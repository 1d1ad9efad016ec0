/** LLM-002: how fast a KV cache can grow page by page, and how long the slowest pages take. */
import * as v from 'valibot';
import type { PageMode, PageRounds } from '../../native/addon-types.js';
import type { Session } from '../../native/session.js';
import { median } from '../../stats/median.js';
import { summarise } from '../../stats/summary.js';
import { bulkCheck, grownCheck, invalidIfHidden, pastLayer, servedBy } from '../served/bulk.js';
import { type Collected, collect, concat } from '../core/collect.js';
import { choice, count, interval, quantity, rowOrReason, rows } from '../core/details.js';
import { type MeasureContext, type MetricDefinition, invalidBy, unsupported } from '../core/metric.js';
import { measureFunction } from '../core/measure-function.js';
import { memoryRoom } from '../overhead/memory-sizes.js';
import { returnedCheck } from '../core/returned-memory.js';
import { type RowState, rowState } from '../core/row-state.js';
import { NS_PER_US } from '../core/units.js';
import { formatBytes } from '../../results/text/format-bytes.js';

const MODES = ['cuMemCreate', 'cuMemAllocAsync'] as const satisfies readonly PageMode[];
const HEADLINE: PageMode = 'cuMemCreate';
/** Pages per round. */
const PAGES = 512;
/** With fewer pages a round is too short to be timed. */
const FEWEST_PAGES = 16;
const ROUNDS = { quick: 20, standard: 20, thorough: 60 } as const;
/** Consecutive rounds without any set-up in between. */
const BLOCK = 10;
/** Rounds past the layer. */
const BARE_ROUNDS = 2;
const NS_PER_S = 1e9;

const details = v.strictObject({
  limitBytes: count('Memory that the process may use (bytes)'),
  pageBytes: count('Size of a page (bytes)'),
  pages: count('Pages in a round'),
  modes: rows(
    rowOrReason(
      { mode: choice(MODES, 'The call that commits memory; cuMemCreate is behind the value') },
      {
        pagesPerSecond: quantity('allocs/s', 'Median rate at which pages are committed, over rounds'),
        ci95: interval('allocs/s', 'pagesPerSecond'),
        releasedPerSecond: quantity('pages/s', 'Median rate at which pages are released, over rounds'),
        pageP50Us: v.nullable(quantity('us', 'Median time to commit a page')),
        pageP99Us: v.nullable(quantity('us', '99th percentile of the same; null with too few pages')),
        pageMaxUs: v.nullable(quantity('us', 'Longest time to commit a page')),
        rounds: count('Rounds: the samples'),
      },
    ),
    'A row per way to commit memory',
  ),
});

export type KvCacheAllocationDetails = v.InferOutput<typeof details>;

interface Row {
  mode: PageMode;
  collected: Collected<PageRounds>;
  /** The same past the layer; null where the driver's own functions cannot be called. */
  bare: PageRounds | null;
}

const rateOf = (pages: number, ns: Float64Array): Float64Array => ns.map((took) => (pages * NS_PER_S) / took);

async function measureMode(context: MeasureContext, session: Session, mode: PageMode, pages: number): Promise<Row> {
  const { iterations, resolution, tier } = context.options;
  const done = MODES.indexOf(mode) / MODES.length;
  // Not counted: the driver now allocates what it keeps for that many pages, such as their tables.
  await session.ask('pageRounds', { mode, pages, rounds: 1, bare: false });
  const bare = await pastLayer(() => session.block('pageRounds', { mode, pages, rounds: BARE_ROUNDS, bare: true }));
  const collected = await collect(
    // Always the tier's number of rounds, however alike they are, because the slowest pages are rare.
    { iterations: iterations ?? ROUNDS[tier], resolution, blockSize: BLOCK, cap: ROUNDS[tier] },
    (rounds, fraction) => {
      context.progress(`${mode}, ${pages} pages`, done + fraction / MODES.length);
      return session.block('pageRounds', { mode, pages, rounds, bare: false });
    },
    ({ commitNs }) => rateOf(pages, commitNs),
  );
  return { mode, collected, bare };
}

/** Pages are judged, not rounds: a round may hold several bursts, or several rounds may live on one. */
function hiddenChecks(rows: readonly Row[], bytes: number) {
  const call = (mode: PageMode) => `a page by ${mode}`;
  const pageNs = (rounds: PageRounds) => rounds.pageNs;
  const served = rows.flatMap(({ mode, collected: { blocks }, bare }) => {
    const row = { call: call(mode), blocks, bare: [bare] };
    return [
      servedBy(row, pageNs),
      servedBy(row, ({ createNs }) => createNs, { part: 'cuMemCreate alone', loop: pageNs }),
    ];
  });
  const memory = rows.flatMap(({ mode, collected, bare }) =>
    collected.blocks.map(({ usedBefore, usedLive }) => ({
      call: call(mode),
      bytes,
      usedBefore,
      usedLive,
      ...(mode === 'cuMemAllocAsync' && { alone: bare }),
    })),
  );
  return [bulkCheck(served), grownCheck(memory)];
}

function described({ mode, collected }: Row, pages: number): KvCacheAllocationDetails['modes'][number] {
  const { blocks, estimate } = collected;
  const pageNs = summarise(concat(...blocks.map((block) => block.pageNs)));
  const us = (ns: number | null | undefined) => (ns == null ? null : ns / NS_PER_US);
  return {
    mode,
    pagesPerSecond: estimate.value,
    ci95: estimate.ci95,
    releasedPerSecond: median(concat(...blocks.map(({ releaseNs }) => rateOf(pages, releaseNs)))).value,
    pageP50Us: us(pageNs?.p50),
    pageP99Us: us(pageNs?.p99),
    pageMaxUs: us(pageNs?.max),
    rounds: collected.samples.length,
  };
}

/** Determines the size of a page, and whether the mode works. Also sets up what stays, such as modules. */
async function tryOut(session: Session, mode: PageMode): Promise<PageRounds | RowState> {
  try {
    return await session.ask('pageRounds', { mode, pages: 1, rounds: 1, bare: false });
  } catch (error) {
    const state = rowState(error);
    if (!state || 'failed' in state) throw error;
    return state;
  }
}

export const kvCacheAllocation: MetricDefinition<KvCacheAllocationDetails> = {
  id: 'LLM-002',
  name: 'KV Cache Allocation Speed',
  category: 'llm',
  unit: 'allocs/s',
  direction: 'higher',
  question: 'How fast can sequences grow before allocation rather than compute limits them?',
  estimator: 'pages committed per second by cuMemCreate, cuMemMap and cuMemSetAccess, median over rounds of 512 pages',
  delta: { relative: 0.05 },
  comparedAt: { name: 'pages of a round', of: ({ pages }) => pages },
  needs: ['virtual memory management'],
  functionName: 'measureKvCacheAllocation',
  where: 'process',
  details,
  seconds: { quick: 2, standard: 2, thorough: 6 },
  async measure(context) {
    const session = await context.session();
    const { limit } = await memoryRoom(session);
    const states: { mode: PageMode; state: PageRounds | RowState }[] = [];
    for (const mode of MODES) states.push({ mode, state: await tryOut(session, mode) });
    const pageBytes = states.flatMap(({ state }) => ('pageBytes' in state ? [state.pageBytes] : []))[0];
    if (pageBytes === undefined) {
      const why = states.flatMap(({ state }) => ('unsupported' in state ? [state.unsupported] : []));
      return unsupported(['neither virtual memory management nor memory pools', ...new Set(why)].join(': '));
    }
    const pages = Math.min(PAGES, Math.floor(limit / 2 / pageBytes));
    const common = { limitBytes: limit, pageBytes, pages };
    if (pages < FEWEST_PAGES)
      return unsupported(`half of ${formatBytes(limit)} holds fewer than ${FEWEST_PAGES} pages`, common);
    const rows: Row[] = [];
    const missing: ({ mode: PageMode } & RowState)[] = [];
    for (const { mode, state } of states)
      if ('pageBytes' in state) rows.push(await measureMode(context, session, mode, pages));
      else missing.push({ mode, ...state });
    const found = { ...common, modes: [...rows.map((row) => described(row, pages)), ...missing] };
    const headline = rows.find(({ mode }) => mode === HEADLINE)?.collected;
    if (!headline) return unsupported(String(Object.values(missing[0] ?? {}).at(-1)), found);
    const returned = returnedCheck(rows.flatMap(({ collected }) => collected.blocks));
    const hidden = hiddenChecks(rows, pages * pageBytes);
    const { value, ci95 } = headline.estimate;
    return {
      ...invalidBy([returned]),
      ...invalidIfHidden(hidden),
      value,
      ci95,
      headline: headline.samples,
      details: found,
      checks: [returned, ...hidden],
    };
  },
};

/**
 * LLM-002, pages a second: how fast memory is committed in pages of a key-value cache by virtual memory;
 * `details.modes[]` has stream-ordered allocation from a warm pool too, and the slowest pages of both.
 */
export const measureKvCacheAllocation = measureFunction(kvCacheAllocation);
