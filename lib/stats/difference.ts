/** A difference measured several times in each of one or more pairs of processes. */
import { intervalOf, meanEstimate } from './estimate.js';
import { median, type MedianEstimate } from './median.js';

/**
 * The mean over pairs of each pair's median difference. Several pairs: a t interval over them, because processes vary.
 * One pair: the interval of its median, which says nothing about other processes.
 */
export function meanOfMedians(pairs: readonly ArrayLike<number>[]): MedianEstimate {
  const medians = pairs.map(median);
  const [first] = medians;
  if (!first) throw new RangeError('Expected at least one pair but received none.');
  if (medians.length === 1) return first;
  const estimate = meanEstimate(medians.map(({ value }) => value));
  return { value: estimate.centre, ci95: intervalOf(estimate) };
}
