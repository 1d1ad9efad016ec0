/** How many rounds a comparison has: a number, the tier's, as many as fit into a time, or as many as detect an effect. */
import { UsageError } from '../errors/usage-error.js';
import type { MetricDefinition } from '../metrics/core/metric.js';
import type { Tier } from '../results/document.js';
import { type Aim, checkDetectable, FEWEST_ROUNDS } from '../run/effects/detect.js';
import { planWithin } from '../run/plan/budget.js';
import { ROUNDS } from '../run/plan/plan.js';
import type { System } from '../systems/system.js';

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

/**
 * The rounds of a system that another session measured are there already, and are compared with some that are measured now.
 * Throws UsageError if rounds are to be planned, or nothing is left to measure.
 */
export function checkBesideRecorded(
  systems: readonly System[],
  rounds: WantedRounds,
  budgetSeconds: number | null = null,
): void {
  if (systems.every(({ recordedIn }) => recordedIn === undefined)) return;
  if (systems.every(({ recordedIn }) => recordedIn !== undefined))
    throw new UsageError('Expected a system to measure beside native:recorded=FILE but received none: name one.');
  if (budgetSeconds !== null || (rounds !== null && typeof rounds !== 'number'))
    throw new UsageError(
      'Expected --rounds with native:recorded=FILE but received --budget or --detect: its rounds are those of the file.',
    );
}
