/** `compare --budget`: the option, and the text about the resulting plan. */
import { UsageError } from '../../errors/usage-error.js';
import { parseBudget } from '../../run/plan/budget.js';
import type { Plan } from '../../run/plan/plan.js';
import { unresolvedText } from '../../run/plan/resolvable.js';
import { duration } from '../../results/text/plain.js';
import { counted } from '../../results/text/quantity.js';

export interface RawBudgeting {
  budget?: string;
}

/** Options that say themselves what --budget plans. */
const excluded = {
  rounds: '--budget plans the rounds itself',
  detect: '--detect plans the rounds from a pilot, whatever time they take',
  maxRounds: 'it belongs to --detect',
  tier: '--budget plans the tier itself',
  resume: 'a comparison continues with its own rounds',
} as const;

/** In seconds; null without --budget. `isGiven` tells whether the user named an option. */
export function budgetGiven({ budget }: RawBudgeting, isGiven: (option: string) => boolean): number | null {
  if (budget === undefined) return null;
  for (const [option, why] of Object.entries(excluded))
    if (isGiven(option))
      throw new UsageError(
        `Expected --budget or --${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)} but received both: ${why}.`,
      );
  return parseBudget('--budget', budget);
}

export function budgetText(
  seconds: number,
  plan: Pick<Plan, 'metrics' | 'tier' | 'processes'>,
  rounds: number,
): string {
  const what = `${counted(rounds, 'round')} at tier ${plan.tier}`;
  return [`Budget ${duration(seconds)}: ${what} fit.`, unresolvedText(plan, rounds)].filter(Boolean).join(' ');
}
