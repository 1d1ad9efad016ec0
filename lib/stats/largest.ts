/**
 * The largest of several quantities, such as the cost of the worst of several neighbours. The one whose estimate is the
 * largest was chosen by its noise too, so that its own interval lies too high.
 */
import type { Interval } from './rule/estimate.js';
import type { MedianEstimate } from './median.js';

/** An estimate with an interval that misses with the probability `alpha`. */
export type AtLevel = (alpha: number) => MedianEstimate;

/** What a 95 % interval leaves out. */
export const ALPHA = 0.05;

interface Largest extends MedianEstimate {
  /** Place of the largest estimate. */
  place: number;
}

/**
 * The interval covers the largest quantity in 95 % or more. The upper limit is the highest of all: one of them is that
 * of the largest quantity. The lower limit is the highest too, of intervals that hold together (C. E. Bonferroni).
 * Without an upper limit of each there is no interval.
 */
export function largestOf(estimates: readonly AtLevel[]): Largest {
  if (estimates.length === 0) throw new RangeError('Expected at least one estimate but received none.');
  const each = estimates.map((estimate) => estimate(ALPHA));
  const value = Math.max(...each.map((one) => one.value));
  const highs = each.flatMap(({ ci95 }) => ci95?.[1] ?? []);
  const lows = estimates.flatMap((estimate) => estimate(ALPHA / estimates.length).ci95?.[0] ?? []);
  const ci95: Interval | null =
    highs.length === each.length && lows.length > 0 ? [Math.min(value, Math.max(...lows)), Math.max(...highs)] : null;
  return { value, ci95, place: each.findIndex((one) => one.value === value) };
}

/** The same for the smallest quantity. */
export function smallestOf(estimates: readonly AtLevel[]): Largest {
  const { value, ci95, place } = largestOf(estimates.map((estimate) => (alpha) => negated(estimate(alpha))));
  return { ...negated({ value, ci95 }), place };
}

const negated = ({ value, ci95 }: MedianEstimate): MedianEstimate => ({
  value: -value,
  ci95: ci95 && [-ci95[1], -ci95[0]],
});
