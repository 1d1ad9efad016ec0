/** The difference of two medians: from one process of each kind, or from pairs of processes. */
import type { Interval } from './effect.js';
import { interval, tEstimate } from './effect.js';
import { median, type MedianEstimate } from './median.js';

export interface Pair {
  with: ArrayLike<number>;
  without: ArrayLike<number>;
}

/**
 * Mean over pairs of median(with) − median(without). Several pairs: a t interval over their differences, as the process
 * is what varies. One pair: the two medians' own intervals combined, each side by the squares of the distances that
 * move it (G. Y. Zou, A. Donner, 2008), which says nothing about other processes.
 */
export function differenceOfMedians(pairs: readonly Pair[]): MedianEstimate {
  const estimates = pairs.map((pair) => ({ with: median(pair.with), without: median(pair.without) }));
  const [first] = estimates;
  if (!first) throw new RangeError('Expected at least one pair but received none.');
  const differences = estimates.map((pair) => pair.with.value - pair.without.value);
  const estimate = tEstimate(differences);
  if (estimate) return { value: estimate.centre, ci95: interval(estimate) };
  return { value: differences[0] as number, ci95: combined(first.with, first.without) };
}

function combined(a: MedianEstimate, b: MedianEstimate): Interval | null {
  if (!a.ci95 || !b.ci95) return null;
  const difference = a.value - b.value;
  return [
    difference - Math.hypot(a.value - a.ci95[0], b.ci95[1] - b.value),
    difference + Math.hypot(a.ci95[1] - a.value, b.value - b.ci95[0]),
  ];
}
