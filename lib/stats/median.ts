/** The median and a distribution-free 95 % interval for it. */
import { quantileSorted } from 'simple-statistics';

/** Fewest samples for an interval: with fewer no pair of order statistics covers the median with 95 %. */
export const FEWEST_FOR_INTERVAL = 6;

export interface MedianEstimate {
  value: number;
  /** Null below `FEWEST_FOR_INTERVAL` samples. */
  ci95: [number, number] | null;
}

/**
 * Number of order statistics to leave out at each end: the largest k with 2·P(Binomial(n, ½) < k) ≤ 0.05.
 * Conover, Practical Nonparametric Statistics, section 3.2.
 */
function excludedAtEachEnd(n: number): number {
  let logTerm = -n * Math.LN2;
  let cumulative = 0;
  for (let k = 0; k < n / 2; k++) {
    cumulative += Math.exp(logTerm);
    if (cumulative > 0.025) return k;
    logTerm += Math.log((n - k) / (k + 1));
  }
  return Math.floor(n / 2);
}

/** Throws RangeError without samples. Assumes independent samples; `ciScope` says what the interval covers. */
export function median(samples: ArrayLike<number>): MedianEstimate {
  if (samples.length === 0) throw new RangeError('Expected at least one sample but received none.');
  const sorted = Float64Array.from(samples).sort();
  const value = quantileSorted(sorted as unknown as number[], 0.5);
  const k = excludedAtEachEnd(sorted.length);
  if (k === 0) return { value, ci95: null };
  return { value, ci95: [sorted[k - 1] as number, sorted[sorted.length - k] as number] };
}

/** Half the width of the interval relative to the value; infinite if there is no interval or the value is 0. */
export function relativeHalfWidth({ value, ci95 }: MedianEstimate): number {
  if (!ci95 || value === 0) return Number.POSITIVE_INFINITY;
  return (ci95[1] - ci95[0]) / 2 / Math.abs(value);
}
