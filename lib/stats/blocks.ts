/** A summary of a process's samples in addition to their median, which shows the variation within the process. */
import { median } from './median.js';

export const MOST_BLOCKS = 20;

/** Medians of at most 20 consecutive blocks of nearly equal length; up to 20 samples, each is a block. */
export function blockMedians(samples: ArrayLike<number>): number[] {
  const all = Float64Array.from(samples);
  const blocks = Math.min(MOST_BLOCKS, all.length);
  const start = (block: number) => Math.floor((block * all.length) / blocks);
  return Array.from({ length: blocks }, (_, block) => median(all.subarray(start(block), start(block + 1))).value);
}
