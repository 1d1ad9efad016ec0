/** OH-003: one free on an idle context among many live blocks: oldest first, newest first, at random. */
import { choice, count, described, interval, quantity, rowOrReason, rows, stopReason, text } from '../core/details.js';
import * as v from 'valibot';
import type { FreeBlock, FreeRequest } from '../../native/addon-types.js';
import type { Session } from '../../native/session.js';
import { shuffled } from '../../stats/random.js';
import { type Collected, collect } from '../core/collect.js';
import { bareOf, bulkCheck, invalidIfHidden } from '../served/bulk.js';
import type { MeasureContext, MetricDefinition } from '../core/metric.js';
import { ofRow } from '../core/compared-at.js';
import { invalidIfKept, returnedCheck } from '../core/returned-memory.js';
import { rowState } from '../core/row-state.js';
import { HOST_STEP_NS, NS_PER_US, scaled, scaledSamples } from '../core/units.js';
import { formatBytes } from '../../results/text/format-bytes.js';
import { allocationPairRow, allocationPairs } from './allocation-pairs.js';
import { HEADLINE_BYTES, liveBlocks, memoryRoom, PAIRED_LIVE, tooLarge } from './memory-sizes.js';
import { measureFunction } from '../core/measure-function.js';

const LIVE = 1_024;
/** Samples per process; `standard` has five processes. */
const CAP = { quick: 200, standard: 100, thorough: 500 } as const;
const WARMUP = 10;
/** Every block refills its live set, which costs more than its samples, so blocks are few and large. */
const BLOCK = 250;

type Order = FreeRequest['order'];
type Row = Collected<FreeBlock>;

interface RowPlan {
  bytes: number;
  order: Order;
}

function plans(sizes: number[], everything: boolean): RowPlan[] {
  const orders = (bytes: number): Order[] =>
    everything || bytes === HEADLINE_BYTES ? ['fifo', 'lifo', 'random'] : ['fifo'];
  return sizes.flatMap((bytes) => orders(bytes).map((order) => ({ bytes, order })));
}

const isHeadline = ({ bytes, order }: RowPlan): boolean => bytes === HEADLINE_BYTES && order === 'fifo';

async function measureRow(
  context: MeasureContext,
  session: Session,
  plan: RowPlan & { live: number },
  progress: (fraction: number) => number,
): Promise<Row> {
  const { iterations, resolution, tier, seed } = context.options;
  const cap = CAP[tier];
  let blocks = 0;
  return collect(
    { iterations, resolution, blockSize: Math.min(BLOCK, cap), cap, step: HOST_STEP_NS },
    async (count, fraction) => {
      context.progress(`${formatBytes(plan.bytes)} ${plan.order}`, progress(fraction));
      return session.block('freeBlock', {
        ...plan,
        count,
        warmup: context.options.warmup ?? WARMUP,
        seed: seed + blocks++,
      });
    },
    (block) => block.freeNs,
  );
}

/** What a layer adds to a free, and what a second free of the same block gives. */
async function beyondLatencies(context: MeasureContext, session: Session, limit: number, rows: number) {
  context.progress('pairs', rows / (rows + 1));
  const paired = { bytes: HEADLINE_BYTES, live: PAIRED_LIVE, order: 'fifo', limit } as const;
  const { pairs } = await allocationPairs(context, paired, ['free']);
  // Last, because some layers leak on it; never in a host program, whose threads may be given the freed address.
  const doubleFree = context.inWorker ? await session.ask('doubleFree') : 'only in worker processes';
  return { pairs, doubleFree };
}

const details = v.strictObject({
  limitBytes: count('Memory that the process may use (bytes)'),
  sizes: rows(
    rowOrReason(
      {
        bytes: count('Size of a block (bytes)'),
        order: choice(['fifo', 'lifo', 'random'], 'Which block is freed: the oldest, the newest or any'),
        live: count('Live blocks'),
      },
      {
        valueUs: quantity('us', 'Median time of a free'),
        ci95: interval('us', 'valueUs'),
        count: count('Frees'),
        stop: stopReason(),
      },
    ),
    'A row per size and order',
  ),
  pairs: v.optional(
    rows(allocationPairRow, "The free through the application's pointer and through the driver's own, in turn"),
  ),
  doubleFree: v.optional(
    described(
      v.union([
        v.string(),
        v.strictObject({ code: described(v.number(), 'Code of the driver'), name: text('Its name') }),
      ]),
      'What freeing a block twice gives, or why that was not tried',
    ),
  ),
});

export type MemoryFreeDetails = v.InferOutput<typeof details>;

export const memoryFreeLatency: MetricDefinition<MemoryFreeDetails> = {
  id: 'OH-003',
  name: 'Memory Free Latency',
  category: 'overhead',
  unit: 'us',
  direction: 'lower',
  question: 'What does teardown cost, and does it grow with the number of live allocations?',
  estimator: 'median of cuMemFree of 2 MiB, oldest first',
  delta: { relative: 0.05 },
  values: { grid: 0.001 },
  comparedAt: {
    name: 'live blocks',
    of: ({ sizes }) => ofRow(sizes, { bytes: HEADLINE_BYTES, order: 'fifo' }, 'live'),
  },
  pairs: 'pairs',
  needs: [],
  costOf: 'cuMemFree of 2 MiB',
  functionName: 'measureMemoryFree',
  where: 'process',
  details,
  seconds: { quick: 1, standard: 1, thorough: 15 },
  furtherProcesses: { seconds: 0.2 },
  async measure(context) {
    const session = await context.session();
    const { limit, sizes } = await memoryRoom(session);
    const wanted = plans(sizes, context.options.tier === 'thorough').filter(
      (plan) => !context.headlineOnly || isHeadline(plan),
    );
    const table: MemoryFreeDetails['sizes'] = [];
    const measured: Row[] = [];
    let headline: Row | null = null;
    for (const [index, { bytes, order }] of shuffled(wanted, context.options.seed).entries()) {
      const live = liveBlocks(LIVE, bytes, limit);
      const reason = tooLarge(bytes, live, limit);
      if (reason) {
        table.push({ bytes, order, live, unsupported: reason });
        continue;
      }
      const progress = (fraction: number) => (index + fraction) / (wanted.length + 1);
      try {
        const row = await measureRow(context, session, { bytes, order, live }, progress);
        const { value, ci95 } = scaled(row.estimate, NS_PER_US);
        table.push({ bytes, order, live, valueUs: value, ci95, count: row.samples.length, stop: row.stop });
        measured.push(row);
        if (isHeadline({ bytes, order })) headline = row;
      } catch (error) {
        const state = rowState(error);
        if (!state || isHeadline({ bytes, order })) throw error;
        table.push({ bytes, order, live, ...state });
      }
    }
    const leak = returnedCheck(measured.flatMap(({ blocks }) => blocks));
    const more = context.headlineOnly ? {} : await beyondLatencies(context, session, limit, wanted.length);
    const sorted = table.sort((a, b) => a.bytes - b.bytes);
    const common = { details: { limitBytes: limit, sizes: sorted, ...more }, checks: [leak] };
    if (!headline) {
      const reason = `2 MiB blocks: fewer than two may be live in ${limit} bytes`;
      return { status: 'unsupported', reason, value: null, ci95: null, headline: null, ...common };
    }
    const { value, ci95 } = scaled(headline.estimate, NS_PER_US);
    const bareNs = 'pairs' in more ? bareOf(more.pairs, 'cuMemFree_v2') : null;
    const bulk = bulkCheck([{ call: 'cuMemFree of 2 MiB', samplesNs: headline.samples, bareNs }]);
    return {
      ...invalidIfHidden([bulk]),
      ...invalidIfKept(leak),
      value,
      ci95,
      headline: scaledSamples(headline.samples, NS_PER_US),
      ...common,
      checks: [leak, bulk],
    };
  },
};

/**
 * OH-003, µs: median time of cuMemFree of 2 MiB, oldest first; `details.sizes[]` has every size and order,
 * `details.pairs[]` what a layer adds to the call, in ns.
 */
export const measureMemoryFree = measureFunction(memoryFreeLatency);
