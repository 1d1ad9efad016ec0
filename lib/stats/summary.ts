/** Summaries of samples. No sample is dropped; a percentile is given only with enough samples. */
import { max, mean, medianAbsoluteDeviation, min, sampleStandardDeviation } from 'simple-statistics';
import type { Stats } from '../results/document.js';
import { quantile } from './quantile.js';

/**
 * Fewest samples for a percentile: enough that its one-sided 95 % confidence bound lies inside the sample
 * (n ≥ ln 0.05 / ln p; for the median two samples do).
 */
export const percentileFloors = { p50: 2, p90: 29, p95: 59, p99: 299, p999: 2995 } as const;

/** Percentile `p` of sorted samples, or null below its floor. */
function percentile(sorted: number[], p: number, floor: number): number | null {
  return sorted.length >= floor ? quantile(sorted, p) : null;
}

/**
 * Counts samples beyond Tukey's fences at 1.5 (mild) and 3 (severe) interquartile ranges; severe ones are not counted
 * as mild too.
 */
function tukeyOutliers(sorted: number[]): Stats['outliers'] {
  const q1 = quantile(sorted, 0.25);
  const q3 = quantile(sorted, 0.75);
  const beyond = (fences: number) => {
    const reach = fences * (q3 - q1);
    return sorted.filter((x) => x < q1 - reach || x > q3 + reach).length;
  };
  const severe = beyond(3);
  return { mild: beyond(1.5) - severe, severe };
}

/**
 * Null without samples. The standard deviation needs two samples; the coefficient of variation needs positive ones too:
 * relative to a mean near 0 it says nothing.
 */
export function summarise(samples: ArrayLike<number>): Stats | null {
  if (samples.length === 0) return null;
  const sorted = Array.from(samples).sort((a, b) => a - b);
  const average = mean(sorted);
  const stddev = sorted.length > 1 ? sampleStandardDeviation(sorted) : null;
  const floors = percentileFloors;
  return {
    count: sorted.length,
    mean: average,
    stddev,
    cv: stddev === null || (sorted[0] as number) <= 0 ? null : stddev / average,
    mad: medianAbsoluteDeviation(sorted),
    min: min(sorted),
    p50: quantile(sorted, 0.5),
    p90: percentile(sorted, 0.9, floors.p90),
    p95: percentile(sorted, 0.95, floors.p95),
    p99: percentile(sorted, 0.99, floors.p99),
    p999: percentile(sorted, 0.999, floors.p999),
    max: max(sorted),
    outliers: tukeyOutliers(sorted),
  };
}
