/** OH-002, OH-003 and OH-007: what a layer adds to an allocation and to a free, from pairs in one process. */
import { choice, count, rowOrReason, text } from '../core/details.js';
import * as v from 'valibot';
import type { AllocationPairRequest, AllocationPairs, PairBlock } from '../../native/addon-types.js';
import type { MeasureContext } from '../core/metric.js';
import { type RowState, rowState } from '../core/row-state.js';
import { formatBytes } from '../../results/text/format-bytes.js';
import { liveBlocks, tooLarge } from './memory-sizes.js';
import { pairFields, pairSummary } from './pairs.js';

const NAMES = { allocation: 'cuMemAlloc_v2', free: 'cuMemFree_v2' } as const;
type Call = keyof typeof NAMES;

/**
 * Samples of four allocations and four frees each: 500 of 2 MiB take 0.15 s on an H200, whose two calls take 75 us.
 */
const PAIRS = { quick: 500, standard: 500, thorough: 1_000 } as const;
/** Number of visits, each on the next core, so that other activity of the host affects only a part of the samples. */
const VISITS = 10;
const WARMUP = 2;

export interface PairedBlocks {
  bytes: number;
  /** Live blocks to keep on each path to the driver. */
  live: number;
  order: AllocationPairRequest['order'];
  /** Bytes that this process may use, including memory allocated past the layer. */
  limit: number;
}

export const ownedPairFields = {
  owner: v.nullable(text('The object that owns the function a program calls; null if none was found')),
  ...pairFields,
};

/** Details of the pairs of an allocation or a free. */
export const allocationPairRow = rowOrReason(
  {
    name: choice(Object.values(NAMES), 'The driver function'),
    call: text('The call and its place, e.g. `cuMemAlloc_v2 of 2 MiB, 32 live`'),
    bytes: count('Size of a block (bytes)'),
    live: count('Live blocks on each path to the driver'),
  },
  ownedPairFields,
);

/**
 * A row of pairs for each of the calls, named by function and allocation; if they cannot be measured, rows without a
 * number that share the reason. `together`: the pair of an allocation and its free, or null.
 */
export async function allocationPairs(context: MeasureContext, blocks: PairedBlocks, calls: readonly Call[]) {
  const { bytes, limit } = blocks;
  const live = liveBlocks(blocks.live, 2 * bytes, limit);
  const head = (call: Call) => ({
    name: NAMES[call],
    call: `${NAMES[call]} of ${formatBytes(bytes)}, ${live} live`,
    bytes,
    live,
  });
  const measured = await measurePairs(context, { ...blocks, live });
  if ('state' in measured)
    return { pairs: calls.map((call) => ({ ...head(call), ...measured.state })), together: null };
  const { pairs } = measured;
  return {
    pairs: calls.map((call) => ({ ...head(call), ...described(pairs[call]) })),
    together: described(together(pairs)),
  };
}

async function measurePairs(
  context: MeasureContext,
  { bytes, live, order, limit }: PairedBlocks,
): Promise<{ state: RowState } | { pairs: AllocationPairs }> {
  const reason = tooLarge(bytes, live, limit);
  if (reason) return { state: { unsupported: reason } };
  const { tier, seed } = context.options;
  const samples = { count: PAIRS[tier] / VISITS, warmup: WARMUP, visits: VISITS, seed, core: seed };
  try {
    const session = await context.session();
    return { pairs: await session.block('allocationPairs', { bytes, live, order, ...samples }) };
  } catch (error) {
    const state = rowState(error);
    if (!state) throw error;
    return { state };
  }
}

function described(block: PairBlock) {
  const { differences, ...medians } = pairSummary([block]);
  return { owner: block.owner, ...medians, pairs: differences.length };
}

function together({ allocation, free }: AllocationPairs): PairBlock {
  const sum = (one: Float64Array, other: Float64Array) => one.map((ns, i) => ns + (other[i] as number));
  return {
    ...(allocation.intercepted ? allocation : free),
    hookedNs: sum(allocation.hookedNs, free.hookedNs),
    bareNs: sum(allocation.bareNs, free.bareNs),
  };
}
