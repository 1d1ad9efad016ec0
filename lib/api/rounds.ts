/** How many rounds a comparison has: a number, the tier's, as many as fit into a time, or as many as detect an effect. */
import type { MetricDefinition } from '../metrics/core/metric.js';
import type { Tier } from '../results/document.js';
import { type Aim, checkDetectable, FEWEST_ROUNDS } from '../run/effects/detect.js';
import { planWithin } from '../run/plan/budget.js';
import { ROUNDS } from '../run/plan/plan.js';

/** The most rounds that can be asked for. */
export const MOST_POSSIBLE = 1_000;

/** Null: the tier decides. */
export type WantedRounds = number | Aim | null;

/** The number of rounds, or the aim that they are planned for. */
export type PlannedRounds = number | Aim;

/** Throws UsageError if no metric has a ratio to which the aim could apply. */
export function plannedRounds(wanted: WantedRounds, tier: Tier, metrics: readonly MetricDefinition[]): PlannedRounds {
  if (wanted === null) return ROUNDS[tier];
  if (typeof wanted !== 'number') checkDetectable(metrics);
  return wanted;
}

/** The highest tier that fits into the seconds, and its rounds; without seconds, what was wanted. */
export function withinBudget(
  seconds: number | null,
  wanted: { tier: Tier; rounds: WantedRounds },
  compared: { metrics: readonly MetricDefinition[]; systems: number },
): { tier: Tier; rounds: WantedRounds } {
  return seconds === null ? wanted : planWithin({ ...compared, seconds });
}

export const fewestRounds = (rounds: PlannedRounds): number => (typeof rounds === 'number' ? rounds : FEWEST_ROUNDS);
