/**
 * Intervals of a difference or a ratio of two independent estimates from the intervals of each, also asymmetric ones
 * (G. Y. Zou & A. Donner, 2008).
 */
import type { Interval } from './estimate.js';
import type { MedianEstimate } from '../median.js';

/** a − b; null if either has no interval. */
export function differenceInterval(a: MedianEstimate, b: MedianEstimate): Interval | null {
  if (!a.ci95 || !b.ci95) return null;
  const difference = a.value - b.value;
  return [
    difference - Math.hypot(a.value - a.ci95[0], b.ci95[1] - b.value),
    difference + Math.hypot(a.ci95[1] - a.value, b.value - b.ci95[0]),
  ];
}

/** a ÷ b on logarithms; null if either has no interval or an interval that reaches 0. */
export function ratioInterval(a: MedianEstimate, b: MedianEstimate): Interval | null {
  const [logA, logB] = [logged(a), logged(b)];
  const logs = logA && logB && differenceInterval(logA, logB);
  return logs && [Math.exp(logs[0]), Math.exp(logs[1])];
}

const logged = ({ value, ci95 }: MedianEstimate): MedianEstimate | null =>
  ci95 && ci95[0] > 0 ? { value: Math.log(value), ci95: [Math.log(ci95[0]), Math.log(ci95[1])] } : null;
