/**
 * The mean without the lowest and highest fifth of the values: outliers do not move it, and it changes smoothly if
 * values lie at two levels. Interval by J. W. Tukey and D. H. McLaughlin (1963).
 */
import { sampleStandardDeviation } from 'simple-statistics';
import type { MedianEstimate } from './median.js';
import { tCritical } from './student-t.js';

const TRIMMED = 0.2;

const inOrder = (values: readonly number[]): Float64Array => Float64Array.from(values).sort();

const cut = (sorted: Float64Array): Float64Array => {
  const trimmed = Math.floor(TRIMMED * sorted.length);
  return sorted.subarray(trimmed, sorted.length - trimmed);
};

const average = (values: Float64Array): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Only the mean; NaN without values. */
export const trimmed = (values: readonly number[]): number => average(cut(inOrder(values)));

/** Throws RangeError without values; no interval if fewer than two remain. Assumes independent values. */
export function trimmedMean(values: readonly number[]): MedianEstimate {
  const count = values.length;
  if (count === 0) throw new RangeError('Expected at least one value but received none.');
  const sorted = inOrder(values);
  const left = cut(sorted);
  const value = average(left);
  if (left.length < 2) return { value, ci95: null };
  const [low, high] = [left[0] as number, left.at(-1) as number];
  const deviation = sampleStandardDeviation(Array.from(sorted, (x) => Math.min(Math.max(x, low), high)));
  const half = (tCritical(0.05, left.length - 1) * deviation * Math.sqrt(count)) / left.length;
  return { value, ci95: [value - half, value + half] };
}
