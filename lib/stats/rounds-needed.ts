/** How many rounds an effect needs until its interval lies on one side of the smallest change that counts. */
import type { Delta, Interval } from './effect.js';
import { tCritical } from './student-t.js';

const MOST = 500;
/** The two-sided t interval that verdicts go by. */
const ALPHA = 0.05;

export interface Found {
  rounds: number;
  ratioCi95: Interval | null;
  differenceCi95: Interval | null;
}

/**
 * Estimated from the variance between the rounds so far, assuming that their mean is the true effect: the number of
 * rounds at which the interval is as short as its distance from the nearest end of ±δ. Null if unknown or above 500.
 */
export function roundsNeeded({ rounds, ratioCi95, differenceCi95 }: Found, delta: Delta): number | null {
  const onLogs = 'relative' in delta;
  const ci95 = onLogs ? ratioCi95?.map(Math.log) : differenceCi95;
  if (!ci95 || rounds < 2) return null;
  const [low, high] = ci95 as Interval;
  const bound = onLogs ? Math.log1p(delta.relative) : delta.absolute;
  const distance = Math.abs(Math.abs((low + high) / 2) - bound);
  const sd = deviationOf([low, high], rounds);
  for (let count = rounds + 1; count <= MOST; count++)
    if (tCritical(ALPHA, count - 1) * (sd / Math.sqrt(count)) <= distance) return count;
  return null;
}

/** The standard deviation between rounds, from the t interval of their mean. */
export const deviationOf = ([low, high]: Interval, rounds: number): number =>
  (((high - low) / 2) * Math.sqrt(rounds)) / tCritical(ALPHA, rounds - 1);

/**
 * The effect that this many rounds detect: with the probability `power` their 95 % interval excludes zero (the usual
 * approximation of a t test's power by the sum of two quantiles). On the scale of `sd`.
 */
export const detectable = (sd: number, rounds: number, power: number): number =>
  ((tCritical(ALPHA, rounds - 1) + tCritical(2 * (1 - power), rounds - 1)) * sd) / Math.sqrt(rounds);

/** The fewest rounds, from `fewest` to `most`, that detect an effect of that size; null if more are needed. */
export function roundsToDetect(
  effect: number,
  sd: number,
  { fewest, most, power }: { fewest: number; most: number; power: number },
): number | null {
  for (let rounds = fewest; rounds <= most; rounds++) if (detectable(sd, rounds, power) <= effect) return rounds;
  return null;
}
