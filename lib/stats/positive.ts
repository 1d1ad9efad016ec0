/** Intervals of positive values, which never reach 0. */
import type { Interval } from './rule/estimate.js';

/**
 * The same interval on a logarithmic scale: a half-width of h becomes a factor of exp(h ÷ value) on either side (the
 * delta method). The value must be positive and lie in the middle.
 */
export function aboveZero(value: number, [low, high]: Interval): Interval {
  const reach = (high - low) / 2 / value;
  return [value * Math.exp(-reach), value * Math.exp(reach)];
}
