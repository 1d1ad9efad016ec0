/** `compare --budget`: the option, and the text about the resulting plan. */
import { parseDuration } from '../config/duration.js';
import { UsageError } from '../errors/usage-error.js';
import type { Budgeted } from '../run/budget.js';
import { unresolvedText } from '../run/resolvable.js';
import type { MetricDefinition } from '../metrics/metric.js';
import { duration } from '../results/plain.js';
import { counted } from '../results/quantity.js';

export interface RawBudgeting {
  budget?: string;
}

const LIMITS = { shortestMs: 1_000, longestMs: 7 * 24 * 3_600_000 };

/** Options that say themselves what --budget plans. */
const excluded = {
  rounds: '--budget plans the rounds itself',
  detect: '--detect plans the rounds from a pilot, whatever time they take',
  maxRounds: 'it belongs to --detect',
  tier: '--budget plans the tier itself',
  resume: 'a comparison continues with its own rounds',
} as const;

/** In seconds; null without --budget. `isGiven` tells whether the user named an option. */
export function parseBudget({ budget }: RawBudgeting, isGiven: (option: string) => boolean): number | null {
  if (budget === undefined) return null;
  for (const [option, why] of Object.entries(excluded))
    if (isGiven(option))
      throw new UsageError(
        `Expected --budget or --${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)} but received both: ${why}.`,
      );
  return parseDuration(budget, { what: '--budget', ...LIMITS }) / 1_000;
}

export function budgetText(seconds: number, planned: Budgeted & { metrics: readonly MetricDefinition[] }): string {
  const what = `${counted(planned.rounds, 'round')} at tier ${planned.tier}`;
  return `Budget ${duration(seconds)}: ${what} fit. ${unresolvedText(planned)}`;
}
