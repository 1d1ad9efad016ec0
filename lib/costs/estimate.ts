/** A value over rounds with its 95 % interval. */
import { type Interval, intervalOf, meanEstimate } from '../stats/rule/estimate.js';

export interface Estimate {
  value: number;
  interval: Interval;
}

/**
 * Null with fewer than two values, or if the result is not finite. With `byRatio`, estimates from logarithms, so that a
 * rate and the cost that is its inverse have corresponding intervals.
 */
export function estimateOver(values: readonly number[], byRatio: boolean): Estimate | null {
  if (values.length < 2) return null;
  const estimate = meanEstimate(byRatio ? values.map(Math.log) : values);
  // Equal values leave the interval without a width: it describes them and decides nothing.
  const ends = intervalOf(estimate) ?? [estimate.centre, estimate.centre];
  const [value, low, high] = [estimate.centre, ...ends].map(byRatio ? Math.exp : Number) as [number, number, number];
  return [value, low, high].every(Number.isFinite) ? { value, interval: [low, high] } : null;
}
