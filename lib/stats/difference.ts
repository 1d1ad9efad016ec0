/** A difference measured several times in each of one or more pairs of processes. */
import { interval, tEstimate } from './effect.js';
import { median, type MedianEstimate } from './median.js';

/**
 * The mean over pairs of each pair's median difference. Several pairs: a t interval over them, because processes vary.
 * One pair: the interval of its median, which says nothing about other processes.
 */
export function meanOfMedians(pairs: readonly ArrayLike<number>[]): MedianEstimate {
  const medians = pairs.map(median);
  const [first] = medians;
  if (!first) throw new RangeError('Expected at least one pair but received none.');
  const estimate = tEstimate(medians.map(({ value }) => value));
  return estimate ? { value: estimate.centre, ci95: interval(estimate) } : first;
}
