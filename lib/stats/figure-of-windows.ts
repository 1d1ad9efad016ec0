/**
 * An interval for any smooth statistic of consecutive time windows. Leaving out each window in turn says how much it
 * contributes (the jackknife, J. W. Tukey, 1958); windows may depend on each other, and so may their contributions.
 */
import type { Interval } from './rule/estimate.js';
import { FEWEST_EFFECTIVE, type LongRun, longRun, neighbourCorrelation, SLOW_PARTS } from './long-run.js';
import { aboveZero } from './positive.js';
import type { SerialEstimate } from './serial.js';
import { tCritical } from './student-t.js';

/** Receives the places of the windows that count, for each series. It must not choose among tenants: `largestOf`. */
type Figure = (windows: readonly (readonly number[])[]) => number;

interface WindowOptions {
  /** Probability that the interval misses. Default 0.05. */
  alpha?: number;
  /** Whether the figure can only be positive: its interval then lies above 0. */
  isPositive: boolean;
}

/**
 * `counts`: the number of windows in each of several independent series. Values measured at the same time belong to one
 * series. Covers only the windows' variation within the processes. No interval if a series has fewer than ten effective
 * windows; null if all windows are equal.
 */
export function figureOfWindows(counts: readonly number[], figure: Figure, options: WindowOptions): SerialEstimate {
  const all = counts.map((count) => Array.from({ length: count }, (_, i) => i));
  const value = figure(all);
  const series = counts.map((count, at) =>
    count < FEWEST_EFFECTIVE ? tooFew(count) : contributions(all, at, (windows) => figure(windows) - value),
  );
  const effectiveSamples = Math.min(...series.map((each) => each.effectiveSamples));
  const standardError = Math.hypot(...series.map((each) => each.standardError));
  if (effectiveSamples < FEWEST_EFFECTIVE || !(standardError > 0)) return { value, ci95: null, effectiveSamples };
  const half = tCritical(options.alpha ?? 0.05, degreesOfFreedom(series)) * standardError;
  const ci95: Interval = [value - half, value + half];
  return { value, ci95: options.isPositive && value > 0 ? aboveZero(value, ci95) : ci95, effectiveSamples };
}

const tooFew = (count: number): LongRun => ({ standardError: 0, efficiency: 1, effectiveSamples: count });

function contributions(
  all: readonly (readonly number[])[],
  at: number,
  changeOf: (windows: readonly (readonly number[])[]) => number,
): LongRun {
  const own = all[at] as readonly number[];
  const each = own.map((left) => {
    const others = own.filter((window) => window !== left);
    return (1 - own.length) * changeOf(all.map((windows, place) => (place === at ? others : windows)));
  });
  return longRun(each, neighbourCorrelation(each));
}

/** F. E. Satterthwaite (1946): more than those of one series if several contribute. */
function degreesOfFreedom(series: readonly LongRun[]): number {
  const variances = series.map(({ standardError }) => standardError ** 2);
  const sum = variances.reduce((all, variance) => all + variance, 0);
  const squares = variances.reduce((all, variance) => all + variance ** 2, 0);
  return (SLOW_PARTS * sum ** 2) / squares;
}
