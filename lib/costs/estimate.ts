/** A value over rounds with a t interval of any level. */
import { type Interval, type TEstimate, tEstimate } from '../stats/effect.js';
import { tCritical } from '../stats/student-t.js';

export interface Estimate {
  value: number;
  interval: Interval;
}

/**
 * Null with fewer than two values, or if the result is not finite. With `byRatio`, estimates from logarithms, so that a
 * rate and the cost that is its inverse have corresponding intervals.
 */
export function estimateOver(values: readonly number[], byRatio: boolean, alpha: number): Estimate | null {
  const estimate = tEstimate(byRatio ? values.map(Math.log) : values);
  if (estimate === null) return null;
  const [value, low, high] = scaleOf(estimate, alpha).map(byRatio ? Math.exp : Number) as [number, number, number];
  return [value, low, high].every(Number.isFinite) ? { value, interval: [low, high] } : null;
}

function scaleOf({ centre, standardError, df }: TEstimate, alpha: number): [number, number, number] {
  const half = tCritical(alpha, df) * standardError;
  return [centre, centre - half, centre + half];
}
