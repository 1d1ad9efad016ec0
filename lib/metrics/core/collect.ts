/** Measures blocks of samples until there are enough: a fixed number, or an adaptive stop that names its reason. */
import { type MedianEstimate, relativeHalfWidth } from '../../stats/median.js';
import { serialMedian } from '../../stats/serial.js';

export type StopReason = 'iterations' | 'resolution reached' | 'noise stopped falling' | 'cap of samples';

export interface Plan {
  /** Exact number of samples, or null for the adaptive stop. */
  iterations: number | null;
  /** The adaptive mode ends at this relative half-width of the median's 95 % interval. */
  resolution: number;
  blockSize: number;
  cap: number;
  /** Step of the clock in the samples' unit, if it is known. */
  step?: number;
  /** Whether to stop once more samples no longer reduce the noise. Default true. */
  mayStall?: boolean;
}

export interface Collected<Block> {
  blocks: Block[];
  samples: Float64Array;
  estimate: MedianEstimate;
  stop: StopReason;
}

/** If the half-width is still this close to that of half the samples, it no longer falls as noise does (by 1/√2). */
const STALLED = 0.95;

/**
 * `next` measures a block of `count` samples and receives the fraction done, for progress. `estimateOf` decides the
 * stop, after 1, 2, 4 … blocks and at the cap: by default the median of all samples in their order; if blocks have an
 * error of their own (a clock mapping), an estimate over blocks.
 */
export async function collect<Block>(
  plan: Plan,
  next: (count: number, fraction: number) => Promise<Block>,
  samplesOf: (block: Block) => Float64Array,
  estimateOf: (blocks: Block[]) => MedianEstimate = (blocks) =>
    serialMedian(concat(...blocks.map(samplesOf)), plan.step === undefined ? {} : { step: plan.step }),
): Promise<Collected<Block>> {
  const blocks: Block[] = [];
  const limit = plan.iterations ?? plan.cap;
  const history = new Map<number, number>();
  const finish = (estimate: MedianEstimate, stop: StopReason) => ({
    blocks,
    samples: concat(...blocks.map(samplesOf)),
    estimate,
    stop,
  });
  for (let count = 0; count < limit;) {
    const size = Math.min(plan.blockSize, limit - count);
    blocks.push(await next(size, count / limit));
    count += size;
    if (plan.iterations !== null || (count < plan.cap && !isPowerOfTwo(blocks.length))) continue;
    const estimate = estimateOf(blocks);
    const stop = stopReason(plan, count, relativeHalfWidth(estimate), history);
    if (stop) return finish(estimate, stop);
  }
  return finish(estimateOf(blocks), 'iterations');
}

/**
 * The width is estimated, and every look at it is a chance to stop because it happens to be too small: with a look after
 * every block, intervals of independent samples cover the truth in 92 % (simulated), after 1, 2, 4 … blocks in 94 %.
 */
const isPowerOfTwo = (blocks: number): boolean => Number.isInteger(Math.log2(blocks));

function stopReason(plan: Plan, count: number, width: number, history: Map<number, number>): StopReason | null {
  if (width <= plan.resolution) return 'resolution reached';
  if (count >= plan.cap) return 'cap of samples';
  if (plan.mayStall === false) return null;
  history.set(count, width);
  const atHalf = history.get(count / 2);
  return count >= 8 * plan.blockSize && atHalf !== undefined && width > STALLED * atHalf
    ? 'noise stopped falling'
    : null;
}

export function concat(...parts: Float64Array[]): Float64Array<ArrayBuffer> {
  const whole = new Float64Array(parts.reduce((total, part) => total + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}
