/** Values on a clock's grid: equal samples do not show that the value is exactly theirs. */
import type { Interval } from './estimate.js';

/** Differences below this part of a value come from its conversion between units. */
const ROUNDING = 1e-12;

/**
 * The smallest difference between two samples, which is a step of their grid or several; null if all are equal. It is
 * taken from the samples because a value is often computed of two clocks, or divided by a number of operations.
 */
export function gridStep(sorted: ArrayLike<number>): number | null {
  let step = Number.POSITIVE_INFINITY;
  for (let i = 1; i < sorted.length; i++) {
    const difference = (sorted[i] as number) - (sorted[i - 1] as number);
    if (difference > ROUNDING * Math.abs(sorted[i] as number)) step = Math.min(step, difference);
  }
  return step === Number.POSITIVE_INFINITY ? null : step;
}

/** At least half a step on either side of the value; null if samples are equal and their step is unknown. */
export function atLeastHalfAStep([low, high]: Interval, value: number, step: number | null): Interval | null {
  if (step === null) return low < high ? [low, high] : null;
  return [Math.min(low, value - step / 2), Math.max(high, value + step / 2)];
}
