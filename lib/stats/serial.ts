/**
 * Estimates from samples of one process in the order of measurement. Neighbours may depend on each other, so that their
 * number says too much: intervals are as wide as their long-run variance. Values of different processes or rounds are
 * independent: `median`, `mean` and `trimmedMean`.
 */
import type { Interval } from './rule/estimate.js';
import { atLeastHalfAStep, gridStep } from './rule/grid.js';
import { FEWEST_EFFECTIVE, longRun, neighbourCorrelation, SLOW_PARTS } from './long-run.js';
import type { MedianEstimate } from './median.js';
import { aboveZero } from './positive.js';
import { rankedAt } from './quantile.js';
import { tCritical } from './student-t.js';
import { cut, cutShare, trimmed, winsorised } from './trimmed-mean.js';

export interface SerialEstimate extends MedianEstimate {
  /** The number of independent samples that would say as much; at most the number of samples. */
  effectiveSamples: number;
}

interface SerialOptions {
  /** Probability that the interval misses, for several intervals that are to hold together. Default 0.05. */
  alpha?: number;
  /** Step of the samples' clock in their unit, if it is known. Default: the smallest difference between two samples. */
  step?: number;
}

/** Why samples of one process have no interval; null if they may have one. */
export function withoutInterval(effectiveSamples: number, samples: number): string | null {
  if (effectiveSamples >= FEWEST_EFFECTIVE) return null;
  const many = `${samples} ${samples === 1 ? 'sample' : 'samples'}`;
  return samples < FEWEST_EFFECTIVE
    ? `${many}, and an interval needs ${FEWEST_EFFECTIVE}`
    : `${many} that depend on each other count as ${Math.floor(effectiveSamples)}, and an interval needs ${FEWEST_EFFECTIVE}`;
}

const noSamples = () => new RangeError('Expected at least one sample but received none.');

function sortedOf(samples: ArrayLike<number>): Float64Array {
  if (samples.length === 0) throw noSamples();
  return Float64Array.from(samples).sort();
}

const stepOf = (sorted: Float64Array, { step }: SerialOptions): number | null => {
  const seen = gridStep(sorted);
  return step === undefined ? seen : Math.max(step, seen ?? 0);
};

/**
 * The interval lies between two ranks of the sorted samples, as far from the middle as the long-run variance of "above
 * or below the median" says. Throws RangeError without samples.
 */
export function serialMedian(samples: ArrayLike<number>, options: SerialOptions = {}): SerialEstimate {
  const sorted = sortedOf(samples);
  const n = sorted.length;
  const value = rankedAt(sorted, (n + 1) / 2);
  const sides = Float64Array.from(samples, (sample) => Math.sign(sample - value));
  const { efficiency, effectiveSamples } = longRun(sides, neighbourCorrelation(samples));
  const reach = (tCritical(options.alpha ?? 0.05, SLOW_PARTS) * Math.sqrt(n / efficiency)) / 2;
  const ranks = [(n + 1) / 2 - reach, (n + 1) / 2 + reach] as const;
  if (effectiveSamples < FEWEST_EFFECTIVE || ranks[0] < 1) return { value, ci95: null, effectiveSamples };
  const interval: Interval = [rankedAt(sorted, ranks[0]), rankedAt(sorted, ranks[1])];
  return { value, ci95: atLeastHalfAStep(interval, value, stepOf(sorted, options)), effectiveSamples };
}

/** Throws RangeError without samples. The interval of positive samples lies above 0. */
export function serialMean(samples: ArrayLike<number>, options: SerialOptions = {}): SerialEstimate {
  const sorted = sortedOf(samples);
  const value = sorted.reduce((sum, sample) => sum + sample, 0) / sorted.length;
  return around(value, samples, { samples, sorted, shareLeft: 1 }, options);
}

/** The mean without a fifth of the samples at either end. Throws RangeError without samples. */
export function serialTrimmedMean(samples: ArrayLike<number>, options: SerialOptions = {}): SerialEstimate {
  const sorted = sortedOf(samples);
  const all = Array.from(samples);
  const series = winsorised(all, cut(sorted));
  return around(trimmed(all), series, { samples, sorted, shareLeft: 1 - 2 * cutShare(all.length) }, options);
}

interface Source {
  samples: ArrayLike<number>;
  sorted: Float64Array;
  /** The share of the samples that the value is the mean of. */
  shareLeft: number;
}

function around(
  value: number,
  series: ArrayLike<number>,
  { samples, sorted, shareLeft }: Source,
  options: SerialOptions,
): SerialEstimate {
  const { standardError, effectiveSamples } = longRun(series, neighbourCorrelation(samples));
  if (effectiveSamples < FEWEST_EFFECTIVE) return { value, ci95: null, effectiveSamples };
  const half = (tCritical(options.alpha ?? 0.05, SLOW_PARTS) * standardError) / shareLeft;
  const isPositive = (sorted[0] as number) > 0;
  const ci95 = atLeastHalfAStep([value - half, value + half], value, stepOf(sorted, options));
  return { value, ci95: ci95 && isPositive ? aboveZero(value, ci95) : ci95, effectiveSamples };
}
