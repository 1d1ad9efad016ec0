/** The interval by which a value is judged against a limit. */
import type { Cell } from '../results/view.js';
import { type Interval, intervalOf, meanEstimate } from '../stats/rule/estimate.js';

/** Error rate of the one-sided tests of all limits of a gate together. */
const ALPHA = 0.05;

/**
 * From the values of the rounds, on logarithms if all are positive: its ends are one-sided tests that together hold the
 * error rate over all limits of the gate (Bonferroni). Null with one round. Equal values have an interval without a width.
 */
export function limitInterval({ values }: Cell, limits: number): Interval | null {
  if (values.length < 2) return null;
  const onLogs = values.every((value) => value > 0);
  const estimate = meanEstimate(onLogs ? values.map(Math.log) : values);
  const [low, high] = intervalOf(estimate, (2 * ALPHA) / Math.max(1, limits)) ?? [estimate.centre, estimate.centre];
  return onLogs ? [Math.exp(low), Math.exp(high)] : [low, high];
}
