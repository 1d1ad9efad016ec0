/** OH-002: one allocation among live blocks, per size class; virtual memory and the stream-ordered pool as sub-rows. */
import * as v from 'valibot';
import type { AllocationApi, AllocationBlock } from '../../native/addon-types.js';
import type { Session } from '../../native/session.js';
import { shuffled } from '../../stats/random.js';
import { invalidIfHidden, pastLayer } from '../served/bulk.js';
import { type Collected, collect } from '../core/collect.js';
import { ofRow } from '../core/compared-at.js';
import { choice, count, interval, quantity, rowOrReason, rows, stopReason } from '../core/details.js';
import type { MeasureContext, MetricDefinition } from '../core/metric.js';
import { rowState } from '../core/row-state.js';
import { servedBlocks } from '../served/served-blocks.js';
import { HOST_STEP_NS, NS_PER_US, scaled, scaledSamples } from '../core/units.js';
import { formatBytes } from '../../results/text/format-bytes.js';
import { allocationPairRow, allocationPairs } from './allocation-pairs.js';
import { HEADLINE_BYTES, liveBlocks, memoryRoom, PAIRED_LIVE, tooLarge } from './memory-sizes.js';
import { measureFunction } from '../core/measure-function.js';

const LIVE = 32;
const WARMUP = 10;
/** Every block rebuilds its live set, which warms it up; from the second one on this is enough. */
const FEW_WARMUP = 2;
/** Samples per process; `standard` has five processes. */
const CAP = { quick: 250, standard: 100, thorough: 500 } as const;
const BLOCK = 50;
/** Allocations of a row past the layer. */
const BARE = 20;

const APIS = ['cuMemAlloc', 'cuMemCreate', 'cuMemAllocAsync'] as const satisfies readonly AllocationApi[];

const details = v.strictObject({
  limitBytes: count('Memory that the process may use (bytes)'),
  sizes: rows(
    rowOrReason(
      {
        api: choice(APIS, 'The allocation call'),
        bytes: count('Size of a block (bytes)'),
        live: count('Live blocks beside it'),
      },
      {
        valueUs: quantity('us', 'Median time of an allocation'),
        ci95: interval('us', 'valueUs'),
        count: count('Allocations'),
        stop: stopReason(),
      },
    ),
    'A row per call and size of a block',
  ),
  pairs: v.optional(
    rows(allocationPairRow, "The allocation through the application's pointer and through the driver's own, in turn"),
  ),
});

export type MemoryAllocationDetails = v.InferOutput<typeof details>;

interface RowPlan {
  api: (typeof APIS)[number];
  bytes: number;
}

interface Row extends Collected<AllocationBlock> {
  api: AllocationApi;
  call: string;
  /** The same past the layer; null where the driver's own functions cannot be called. */
  bare: readonly (AllocationBlock | null)[];
}

async function measureRow(
  context: MeasureContext,
  session: Session,
  { api, bytes }: RowPlan,
  live: number,
  done: number,
): Promise<Row> {
  const { iterations, resolution, tier } = context.options;
  let warmup = context.options.warmup ?? WARMUP;
  const request = { api, bytes, live };
  const alone = () =>
    pastLayer(() => session.block('allocationBlock', { ...request, count: BARE, warmup: FEW_WARMUP, bare: true }));
  const before = await alone();
  const collected = await collect(
    { iterations, resolution, blockSize: BLOCK, cap: CAP[tier], step: HOST_STEP_NS },
    async (count, fraction) => {
      context.progress(`${api} ${formatBytes(bytes)}`, done + fraction / STEPS);
      const block = await session.block('allocationBlock', { ...request, count, warmup, bare: false });
      warmup = Math.min(warmup, FEW_WARMUP);
      return block;
    },
    (block) => block.allocNs,
  );
  return { ...collected, api, call: `${api} of ${formatBytes(bytes)}`, bare: [before, await alone()] };
}

/** Seven rows, and the pairs. */
const STEPS = 8;

const isHeadline = ({ api, bytes }: RowPlan): boolean => api === 'cuMemAlloc' && bytes === HEADLINE_BYTES;

function plans(sizes: number[]): RowPlan[] {
  const direct = sizes.map((bytes): RowPlan => ({ api: 'cuMemAlloc', bytes }));
  return [...direct, { api: 'cuMemCreate', bytes: HEADLINE_BYTES }, { api: 'cuMemAllocAsync', bytes: HEADLINE_BYTES }];
}

export const memoryAllocationLatency: MetricDefinition<MemoryAllocationDetails> = {
  id: 'OH-002',
  name: 'Memory Allocation Latency',
  category: 'overhead',
  unit: 'us',
  direction: 'lower',
  question: 'Is the accounting path constant-time, and how much will un-pooled allocators pay?',
  estimator: 'median of cuMemAlloc of 2 MiB among 32 live blocks',
  delta: { relative: 0.05 },
  values: { grid: 0.001 },
  comparedAt: {
    name: 'live blocks',
    of: ({ sizes }) => ofRow(sizes, { api: 'cuMemAlloc', bytes: HEADLINE_BYTES }, 'live'),
  },
  pairs: 'pairs',
  needs: [],
  costOf: 'cuMemAlloc of 2 MiB',
  functionName: 'measureMemoryAllocation',
  where: 'process',
  details,
  seconds: { quick: 1, standard: 1, thorough: 2 },
  furtherProcesses: { seconds: 0.1 },
  async measure(context) {
    const session = await context.session();
    const { limit, sizes } = await memoryRoom(session);
    const table: MemoryAllocationDetails['sizes'] = [];
    const measured: Row[] = [];
    let headline: Row | null = null;
    const wanted = plans(sizes).filter((plan) => !context.headlineOnly || isHeadline(plan));
    for (const [index, plan] of shuffled(wanted, context.options.seed).entries()) {
      const { api, bytes } = plan;
      const live = liveBlocks(LIVE, bytes, limit);
      const reason = tooLarge(bytes, live, limit);
      if (reason) {
        table.push({ api, bytes, live, unsupported: reason });
        continue;
      }
      try {
        const row = await measureRow(context, session, plan, live, index / STEPS);
        const { value, ci95 } = scaled(row.estimate, NS_PER_US);
        table.push({ api, bytes, live, valueUs: value, ci95, count: row.samples.length, stop: row.stop });
        measured.push(row);
        if (isHeadline(plan)) headline = row;
      } catch (error) {
        const state = rowState(error);
        if (!state || isHeadline(plan)) throw error;
        table.push({ api, bytes, live, ...state });
      }
    }
    const found: MemoryAllocationDetails = { limitBytes: limit, sizes: table.sort(byApiAndSize) };
    if (!context.headlineOnly) {
      context.progress('pairs', (STEPS - 1) / STEPS);
      const paired = { bytes: HEADLINE_BYTES, live: PAIRED_LIVE, order: 'fifo', limit } as const;
      found.pairs = (await allocationPairs(context, paired, ['allocation'])).pairs;
    }
    if (!headline)
      return {
        status: 'unsupported',
        reason: `2 MiB blocks: ${tooLarge(HEADLINE_BYTES, liveBlocks(LIVE, HEADLINE_BYTES, limit), limit)}`,
        value: null,
        ci95: null,
        headline: null,
        details: found,
        checks: [],
      };
    const { value, ci95 } = scaled(headline.estimate, NS_PER_US);
    // An unusable allocation has already ended the measurement.
    const checks = servedBlocks(measured);
    return {
      ...invalidIfHidden(checks),
      value,
      ci95,
      headline: scaledSamples(headline.samples, NS_PER_US),
      details: found,
      checks,
    };
  },
};

const byApiAndSize = (a: RowPlan, b: RowPlan): number => APIS.indexOf(a.api) - APIS.indexOf(b.api) || a.bytes - b.bytes;

/**
 * OH-002, µs: median time of cuMemAlloc of 2 MiB among 32 live blocks; `details.sizes[]` has every size class,
 * `details.pairs[]` what a layer adds to the call, in ns.
 */
export const measureMemoryAllocation = measureFunction(memoryAllocationLatency);
