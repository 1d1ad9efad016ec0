/** FRAG-002: whether allocations take longer when the memory in use is fragmented than when it is contiguous. */
import { mean } from 'simple-statistics';
import * as v from 'valibot';
import type { AllocationRequest } from '../../native/addon-types.js';
import type { Check } from '../../results/document.js';
import type { MedianEstimate } from '../../stats/median.js';
import { shuffled } from '../../stats/random.js';
import { serialMedian } from '../../stats/serial.js';
import { askSession, type SentAnswerOf } from '../../workers/session-task.js';
import { invalidIfHidden, pastLayer } from '../served/bulk.js';
import { choice, count, interval, quantity, rows, text } from '../core/details.js';
import { invalidBy, type MeasureContext, type Measured, type MetricDefinition } from '../core/metric.js';
import { measureFunction } from '../core/measure-function.js';
import { type MemorySpan, returnedCheck, withCardAsFound } from '../core/returned-memory.js';
import { servedBlocks } from '../served/served-blocks.js';
import { FIRST_ID, inScene } from '../tenants/scene.js';
import { GIB, MIB, NS_PER_US, scaled } from '../core/units.js';
import { formatBytes } from '../../results/text/format-bytes.js';
import { type ChurnRoom, churnOf, churnRoom, ChurnTenant, type NoRoom, SEEDS, spoilt } from './churn.js';

const API = 'cuMemAlloc';
const SIZES = [2 * MIB, 16 * MIB, 64 * MIB];
const HEADLINE = 16 * MIB;
/**
 * Each state has the same blocks: allocated in sequence; left over from twice as many; in sequence again after
 * everything was freed.
 */
const STATES = ['contiguous', 'fragmented', 'contiguous again'] as const;
type State = (typeof STATES)[number];
/** Samples per cell (a size in a state) and pass. */
const COUNT = { quick: 60, standard: 60, thorough: 300 } as const;
/** Memory that blocks fill at most: the same blocks natively and under any larger limit. */
const MOST_ROOM = 16 * GIB;
const PASSES = { quick: 1, standard: 1, thorough: 2 } as const;
/** Samples per cell and pass past the layer. */
const BARE = 10;
const WARMUP = 3;
/** Live blocks in addition to the timed one. */
const LIVE = 1;
const DEADLINE_MS = 60_000;
/**
 * Largest relative difference between the last state and the first. Drivers are not equally fast in two equal states
 * (seen on an H200: 22 %), which widens the interval of the result.
 */
const DRIFT = 0.5;

type Block = SentAnswerOf<'allocationBlock'>;
const details = v.strictObject({
  ...churnRoom.entries,
  blocks: count('Blocks in use, in every state'),
  heldBytes: count('Memory in use, in every state (bytes)'),
  headline: text('The allocation of the value'),
  cells: rows(
    v.strictObject({
      state: choice(STATES, 'How the blocks in use were allocated'),
      bytes: count('Size of the allocation (bytes)'),
      allocUs: quantity('us', 'Median time of an allocation'),
      ci95: interval('us', 'allocUs'),
      freeUs: quantity('us', 'Median time of a free'),
      count: count('Allocations'),
    }),
    'A row per state and size',
  ),
});

export type AllocationLatencyDegradationDetails = v.InferOutput<typeof details>;

interface Cell {
  state: State;
  bytes: number;
  allocNs: number[];
  freeNs: number[];
  blocks: Block[];
  /** The same past the layer; null where the driver's own functions cannot be called. */
  bare: (Block | null)[];
}

interface Held {
  blocks: number;
  heldBytes: number;
}

interface Degraded {
  room: ChurnRoom;
  cells: Cell[];
  held: { state: State; held: Held }[];
  spans: MemorySpan[];
  fault: string | null;
}

const cellsOf = (): Cell[] =>
  STATES.flatMap((state) =>
    SIZES.map((bytes): Cell => ({ state, bytes, allocNs: [], freeNs: [], blocks: [], bare: [] })),
  );

async function time({ options }: MeasureContext, tenant: ChurnTenant, cells: readonly Cell[], seed: number) {
  const samples = options.iterations ?? COUNT[options.tier];
  for (const cell of shuffled(cells, seed)) {
    const ask = (of: Pick<AllocationRequest, 'count' | 'bare'>) =>
      askSession(tenant.worker, {
        name: 'allocationBlock',
        request: { api: API, bytes: cell.bytes, live: LIVE, warmup: options.warmup ?? WARMUP, ...of },
        deadlineMs: DEADLINE_MS,
      });
    const bare = await pastLayer(() => ask({ count: BARE, bare: true }));
    const block = await ask({ count: samples, bare: false });
    cell.allocNs.push(...block.allocNs);
    cell.freeNs.push(...block.freeNs);
    cell.blocks.push(block);
    cell.bare.push(bare);
  }
}

async function degrade(context: MeasureContext, tenant: ChurnTenant): Promise<Degraded | NoRoom> {
  const room = await tenant.room();
  if (!('roomBytes' in room)) return room;
  const degraded: Degraded = { room, cells: cellsOf(), held: [], spans: [], fault: null };
  const { tier, seed } = context.options;
  for (let pass = 0; pass < PASSES[tier] && degraded.fault === null; pass++)
    for (const [index, state] of STATES.entries()) {
      context.progress(state, (pass + index / STATES.length) / PASSES[tier]);
      const { used: churn, span } = await tenant.returning(async () => {
        const churned = await tenant.churn('cuMemAlloc_v2', {
          ...churnOf({ ...room, roomBytes: Math.min(room.roomBytes, MOST_ROOM) }),
          compact: state !== 'fragmented',
          seed: SEEDS[pass] as number,
        });
        const cells = degraded.cells.filter((cell) => cell.state === state);
        if (spoilt(churned) === null) await time(context, tenant, cells, seed + pass);
        return churned;
      });
      degraded.held.push({ state, held: { blocks: churn.blocks, heldBytes: churn.heldBytes } });
      degraded.spans.push(span);
      degraded.fault ??= spoilt(churn);
    }
  return degraded;
}

interface Estimates {
  state: State;
  bytes: number;
  alloc: MedianEstimate;
  free: MedianEstimate;
  count: number;
}

const estimated = (cells: readonly Cell[]): Estimates[] =>
  cells.map(({ state, bytes, allocNs, freeNs }) => ({
    state,
    bytes,
    alloc: serialMedian(allocNs),
    free: serialMedian(freeNs),
    count: allocNs.length,
  }));

function described({ state, bytes, alloc, free, count: samples }: Estimates) {
  const { value, ci95 } = scaled(alloc, NS_PER_US);
  return { state, bytes, allocUs: value, ci95, freeUs: free.value / NS_PER_US, count: samples };
}

const hiddenChecks = (cells: readonly Cell[]) =>
  servedBlocks(
    cells.map(({ state, bytes, blocks, bare }) => ({
      call: `${state}, ${API} of ${formatBytes(bytes)}`,
      api: API,
      blocks,
      bare,
    })),
  );

/** Every state must hold the same number of blocks and bytes; otherwise the states are not comparable. */
function equalCheck(held: Degraded['held']): Check {
  const texts = held.map(({ state, held: { blocks, heldBytes } }) => `${state}: ${blocks} blocks, ${heldBytes} bytes`);
  const passed = held.length === 0 || held.every(({ held: each }) => sameAs(each, held[0]?.held as Held));
  return { name: 'every state holds the same number of blocks and bytes', passed, detail: texts.join('; ') };
}

const sameAs = (a: Held, b: Held): boolean => a.blocks === b.blocks && a.heldBytes === b.heldBytes;

/** Any other change of the allocator's speed would be mistaken for fragmentation. */
export function steadyCheck(first: number, again: number): Check {
  const drift = Math.abs(again / first - 1);
  return {
    name: 'the allocator is about as fast as before after everything was freed',
    passed: drift <= DRIFT,
    detail: `${(first / NS_PER_US).toFixed(1)} us before, ${(again / NS_PER_US).toFixed(1)} us after`,
  };
}

/** Fragmented to contiguous, which is the mean of both contiguous states; the interval covers each of them. */
export function slowdown(fragmented: MedianEstimate, contiguous: readonly MedianEstimate[]) {
  const reference = mean(contiguous.map(({ value }) => value));
  const value = fragmented.value / reference;
  const others = contiguous.flatMap(({ ci95 }) => (ci95 ? [ci95] : []));
  if (!fragmented.ci95 || others.length < contiguous.length) return { reference, value, ci95: null };
  const [from, to] = fragmented.ci95;
  const least = Math.min(...others.map(([begin]) => begin));
  const most = Math.max(...others.map(([, end]) => end));
  const ci95: [number, number] = [from / most, to / least];
  return { reference, value, ci95 };
}

function judge(degraded: Degraded, asFound: Check): Measured<AllocationLatencyDegradationDetails> {
  const { room, cells, held, spans, fault } = degraded;
  if (fault !== null)
    return {
      status: 'invalid',
      reason: fault,
      value: null,
      ci95: null,
      headline: null,
      details: { ...room },
      checks: [asFound],
    };
  const estimates = estimated(cells);
  const of = (state: State) => estimates.find((each) => each.state === state && each.bytes === HEADLINE) as Estimates;
  const [first, fragmented, again] = STATES.map(of) as [Estimates, Estimates, Estimates];
  const equal = equalCheck(held);
  const steady = steadyCheck(first.alloc.value, again.alloc.value);
  const returned = returnedCheck(spans);
  const hidden = hiddenChecks(cells);
  const { reference, value, ci95 } = slowdown(fragmented.alloc, [first.alloc, again.alloc]);
  const ratios = cells
    .filter(({ state, bytes }) => state === 'fragmented' && bytes === HEADLINE)
    .flatMap(({ allocNs }) => allocNs.map((ns) => ns / reference));
  return {
    ...invalidBy([equal, returned, steady]),
    ...invalidIfHidden(hidden),
    value,
    ci95,
    headline: Float64Array.from(ratios),
    details: {
      ...room,
      blocks: held[0]?.held.blocks ?? 0,
      heldBytes: held[0]?.held.heldBytes ?? 0,
      headline: `cuMemAlloc of ${formatBytes(HEADLINE)}`,
      cells: estimates.map(described),
    },
    checks: [equal, steady, returned, asFound, ...hidden],
  };
}

export const allocationDegradation: MetricDefinition<AllocationLatencyDegradationDetails> = {
  id: 'FRAG-002',
  name: 'Allocation Latency Degradation',
  category: 'fragmentation',
  unit: 'ratio',
  direction: 'lower',
  question: 'Do allocations get slower in long-lived processes?',
  estimator:
    'median time of cuMemAlloc of 16 MiB with fragmented blocks in use, divided by the mean of those with the same blocks allocated in sequence before and after',
  delta: { relative: 0.1 },
  comparedAt: { name: 'blocks in use', of: ({ blocks }) => blocks },
  needs: ['1 GiB of memory', 'fresh processes'],
  functionName: 'measureAllocationLatencyDegradation',
  where: 'fresh-processes',
  details,
  seconds: { quick: 4, standard: 4, thorough: 12 },
  async measure(context) {
    const { used, asFound } = await withCardAsFound(context, () =>
      inScene(context, async (scene) =>
        degrade(context, new ChurnTenant(context, await scene.enter({ id: FIRST_ID }))),
      ),
    );
    return 'room' in used ? judge(used, asFound) : used;
  },
};

/**
 * FRAG-002, ratio: time of cuMemAlloc of 16 MiB while fragmented memory is in use, over the time with the same number
 * of blocks of the same sizes allocated in sequence: the mean of that before and that after everything was freed. The
 * interval covers both. `details.cells[]` has 2 and 64 MiB, the frees, and each state. `iterations` is the allocations
 * per cell; `resolution` does not apply.
 */
export const measureAllocationLatencyDegradation = measureFunction(allocationDegradation);
