/**
 * The mean without the lowest and highest fifth of the values: outliers do not move it, and it changes smoothly if
 * values lie at two levels. Interval by J. W. Tukey and D. H. McLaughlin (1963).
 */
import { sampleStandardDeviation } from 'simple-statistics';
import type { MedianEstimate } from './median.js';
import { tCritical } from './student-t.js';

const TRIMMED = 0.2;

const inOrder = (values: readonly number[]): Float64Array => Float64Array.from(values).sort();

const cutCount = (count: number, share = TRIMMED): number => Math.floor(share * count);

/** The share of the values that is left out at each end. */
export const cutShare = (count: number): number => cutCount(count) / count;

/** The sorted values without those at the ends. */
export const cut = (sorted: Float64Array, share = TRIMMED): Float64Array => {
  const trimmed = cutCount(sorted.length, share);
  return sorted.subarray(trimmed, sorted.length - trimmed);
};

const average = (values: Float64Array): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Only the mean, without `share` of the values at each end; NaN without values. */
export const trimmed = (values: readonly number[], share = TRIMMED): number => average(cut(inOrder(values), share));

/** Values in the same order, with those at the ends replaced by the nearest that is left. */
export function winsorised(values: readonly number[], left: Float64Array): number[] {
  const [low, high] = [left[0] as number, left.at(-1) as number];
  return values.map((x) => Math.min(Math.max(x, low), high));
}

/**
 * Throws RangeError without values; no interval if fewer than two remain. Of independent values, of a process each;
 * samples of one process: `serialTrimmedMean`.
 */
export function trimmedMean(values: readonly number[]): MedianEstimate {
  const count = values.length;
  if (count === 0) throw new RangeError('Expected at least one value but received none.');
  const left = cut(inOrder(values));
  const value = average(left);
  if (left.length < 2) return { value, ci95: null };
  const deviation = sampleStandardDeviation(winsorised(values, left));
  const half = (tCritical(0.05, left.length - 1) * deviation * Math.sqrt(count)) / left.length;
  return { value, ci95: [value - half, value + half] };
}
