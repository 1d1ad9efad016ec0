/** Blocks of allocations are served by the driver: by time, and by the memory of their live blocks. */
import type { AllocationApi } from '../../native/addon-types.js';
import type { SentAnswerOf } from '../../workers/session-task.js';
import { bulkCheck, grownCheck, type Measured, type Samples, servedBy } from './bulk.js';

/** The driver answers these from memory that it keeps itself. */
const POOLED: readonly AllocationApi[] = ['cuMemAllocAsync', 'cuMemAllocFromPoolAsync'];

/** A block of the process itself, or one that a tenant sent. */
type Block = Pick<SentAnswerOf<'allocationBlock'>, 'bytes' | 'live' | 'usedBefore' | 'usedLive'> &
  Record<'allocNs' | 'createNs', ArrayLike<number>>;

interface Row extends Measured<Block> {
  api: AllocationApi;
}

/** Mapping cannot be left out, so that cuMemCreate is judged by itself too. */
export const servedAllocations = <Timed extends Pick<Block, 'allocNs' | 'createNs'>>(
  row: Measured<Timed>,
): Samples[] => [
  servedBy(row, (block) => block.allocNs),
  servedBy(row, (block) => block.createNs, { part: 'cuMemCreate alone', loop: (block) => block.allocNs }),
];

/**
 * Each allocation as a block of its own, so that the fastest is the measure: of large blocks the driver keeps some, and its own
 * times differ by a factor of six.
 */
export const singly = ({ allocNs, createNs }: Record<'allocNs' | 'createNs', ArrayLike<number>>) =>
  Array.from(allocNs, (ns, index) => ({ allocNs: [ns], createNs: Array.from(createNs).slice(index, index + 1) }));

const liveMemory = ({ call, api, blocks, bare }: Row) =>
  blocks.map(({ bytes, live, usedBefore, usedLive }) => ({
    call,
    bytes: bytes * live,
    usedBefore,
    usedLive,
    ...(POOLED.includes(api) && { alone: bare.at(-1) ?? null }),
  }));

export const servedBlocks = (rows: readonly Row[]) => [
  bulkCheck(rows.flatMap(servedAllocations)),
  grownCheck(rows.flatMap(liveMemory)),
];
