/**
 * How much the mean of a series varies if neighbouring samples depend on each other. The series is whitened with the
 * correlation of neighbours (D. W. K. Andrews & J. C. Monahan, 1992), and the variance of its slowest parts, eight
 * cosines, stands for the rest (E. Lazarus, D. J. Lewis, J. H. Stock & M. W. Watson, 2018): a t interval with eight
 * degrees of freedom. Slow drift widens it as well. Simulated coverage: `bench/coverage.js`.
 */
import { ranksOf } from './ranks.js';

/** Cosines, and degrees of freedom. */
export const SLOW_PARTS = 8;
/** Fewest effective samples for an interval: the dependence of samples cannot be estimated from fewer. */
export const FEWEST_EFFECTIVE = 10;
/** A stronger correlation cannot be told from a trend. */
const MOST_CORRELATED = 0.97;
/** Samples that alternate make the slow parts small. A quarter leaves the coverage of independent samples as it is. */
const LEAST_OF_VARIANCE = 0.25;

export function mean(values: ArrayLike<number>): number {
  let [sum, i] = [0, 0];
  while (i < values.length) sum += values[i++] as number;
  return sum / i;
}

// Float64Array.from with a function takes twenty times as long.
function centred(values: ArrayLike<number>): Float64Array {
  const middle = mean(values);
  const deviations = new Float64Array(values.length);
  for (let i = 0; i < deviations.length; i++) deviations[i] = (values[i] as number) - middle;
  return deviations;
}

/** Population variance. */
function varianceOf(values: ArrayLike<number>): number {
  return mean(centred(values).map((deviation) => deviation ** 2));
}

/**
 * Correlation of the ranks of neighbouring samples, without its bias in short series (M. G. Kendall, 1954), from 0 to
 * 0.97. Ranks, because one outlier would hide the dependence of all others.
 */
export function neighbourCorrelation(samples: ArrayLike<number>): number {
  const n = samples.length;
  const deviations = centred(ranksOf(samples));
  let [products, squares] = [0, 0];
  for (let i = 0; i < n; i++) {
    squares += (deviations[i] as number) ** 2;
    if (i > 0) products += (deviations[i] as number) * (deviations[i - 1] as number);
  }
  if (n < 4 || squares === 0) return 0;
  return Math.min(MOST_CORRELATED, Math.max(0, (products / squares + 1 / n) / (1 - 3 / n)));
}

/** Cosine coefficients of the whitened series, each with the series' long-run variance. Expects three samples or more. */
export function slowParts(series: ArrayLike<number>, correlation: number): number[] {
  const deviations = centred(series);
  const whitened = centred(deviations.subarray(1).map((own, i) => own - correlation * (deviations[i] as number)));
  const n = whitened.length;
  const scale = Math.sqrt(2 / n) / (1 - correlation);
  return Array.from({ length: SLOW_PARTS }, (_, part) => {
    let sum = 0;
    for (let i = 0; i < n; i++) sum += (whitened[i] as number) * Math.cos((Math.PI * (part + 1) * (i + 0.5)) / n);
    return scale * sum;
  });
}

export interface LongRun {
  /** Standard error of the series' mean. */
  standardError: number;
  /** How many independent samples have the same standard error, relative to the number of samples; may exceed 1. */
  efficiency: number;
  /** At most the number of samples; less than that of the same standard error if neighbours correlate more. */
  effectiveSamples: number;
}

/**
 * `correlation` is that of the samples from which the series is derived. With fewer than `FEWEST_EFFECTIVE` samples all
 * count as effective, which are too few in any case.
 */
export function longRun(series: ArrayLike<number>, correlation: number): LongRun {
  const n = series.length;
  const variance = varianceOf(series);
  if (n < FEWEST_EFFECTIVE || variance === 0)
    return { standardError: Math.sqrt(variance / n), efficiency: 1, effectiveSamples: n };
  const longRunVariance = Math.max(
    mean(slowParts(series, correlation).map((part) => part ** 2)),
    LEAST_OF_VARIANCE * variance,
  );
  const efficiency = variance / longRunVariance;
  const byNeighbours = (1 - correlation) / (1 + correlation);
  return {
    standardError: Math.sqrt(longRunVariance / n),
    efficiency,
    effectiveSamples: n * Math.min(1, efficiency, byNeighbours),
  };
}
