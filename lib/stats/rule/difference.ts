/** A difference measured several times in each of one or more pairs of processes. */
import { intervalOf, meanEstimate } from './estimate.js';
import { median, type MedianEstimate } from '../median.js';
import { serialMedian } from '../serial.js';

/**
 * The mean over pairs of each pair's median difference. Several pairs: a t interval over them, because processes vary.
 * One pair, measured in turns: the interval of its median, which says nothing about other processes.
 */
export function meanOfMedians(pairs: readonly ArrayLike<number>[]): MedianEstimate {
  const [first] = pairs;
  if (!first) throw new RangeError('Expected at least one pair but received none.');
  if (pairs.length > 1) {
    const estimate = meanEstimate(pairs.map((pair) => median(pair).value));
    return { value: estimate.centre, ci95: intervalOf(estimate) };
  }
  const { value, ci95 } = serialMedian(first);
  return { value, ci95 };
}
