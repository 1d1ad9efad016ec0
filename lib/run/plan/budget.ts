/** Plans tier and rounds of a comparison so that its estimated time fits into a budget. */
import { parseDuration } from '../../config/duration.js';
import type { MetricDefinition } from '../../metrics/core/metric.js';
import { metricsFor } from '../../metrics/purposes.js';
import { metrics as all } from '../../metrics/registry.js';
import type { Tier } from '../../results/document.js';
import { duration } from '../../results/text/plain.js';
import { byMetricId } from '../../results/metric-order.js';
import { purposeNames } from '../../results/text/purpose-names.js';
import { counted } from '../../results/text/quantity.js';
import { UsageError } from '../../errors/usage-error.js';
import { MOST_ROUNDS } from '../effects/detect.js';
import { makePlan, ROUNDS } from './plan.js';
import { withProcesses } from './processes-per-round.js';
import { selectMetrics } from './select.js';

/** Fewest rounds of a plan: one round has no interval. */
const FEWEST_ROUNDS = 2;

interface Budgeted {
  tier: Tier;
  rounds: number;
}

/** What is compared, and the seconds that it may take. */
export interface Budget {
  metrics: readonly MetricDefinition[];
  systems: number;
  seconds: number;
}

const LIMITS = { shortestMs: 1_000, longestMs: 7 * 24 * 3_600_000 };

/**
 * Parses a budget into seconds. `what` is the name of the option, e.g. `--budget`. Throws UsageError if the text is no
 * duration with its unit.
 */
export const parseBudget = (what: string, text: string): number => parseDuration(text, { what, ...LIMITS }) / 1_000;

const costOf = ({ metrics, systems }: Omit<Budget, 'seconds'>, tier: Tier, rounds: number): number =>
  withProcesses(makePlan(metrics, tier, 0), systems).estimatedSeconds * systems * rounds;

/**
 * Plans the highest tier of which the usual number of rounds fits, with as many rounds as fit: a verdict needs rounds
 * more than it needs samples within one. Throws UsageError if not even two rounds at tier quick fit.
 */
export function planWithin(budget: Budget): Budgeted {
  for (const tier of ['thorough', 'standard', 'quick'] as const) {
    const rounds = Math.floor(budget.seconds / costOf(budget, tier, 1));
    if (rounds >= Math.max(ROUNDS[tier], FEWEST_ROUNDS)) return { tier, rounds: Math.min(rounds, MOST_ROUNDS) };
  }
  throw tooSmall(budget);
}

function tooSmall(budget: Budget): UsageError {
  const needed = duration(costOf(budget, 'quick', FEWEST_ROUNDS));
  const what = `${counted(budget.metrics.length, 'metric')} of ${counted(budget.systems, 'system')}`;
  const fitting = selectionThatFits(budget);
  const hint = fitting === null ? 'no metric of them fits' : `${fitting} would fit`;
  return new UsageError(
    `Expected a budget of at least ${needed}, which ${FEWEST_ROUNDS} rounds of ${what} at tier quick take, but received ${duration(budget.seconds)}: ${hint}.`,
  );
}

const MOST_IDS = 6;

/**
 * Names the largest purpose or category within the selection that fits, else its shortest metrics; null if none fits.
 */
function selectionThatFits({ metrics, systems, seconds }: Budget): string | null {
  const selected = new Set(metrics.map(({ id }) => id));
  const fits = (some: readonly MetricDefinition[]) =>
    costOf({ metrics: some, systems }, 'quick', FEWEST_ROUNDS) <= seconds;
  const candidates = namedSelections()
    .filter(({ some }) => some.length < metrics.length && some.every(({ id }) => selected.has(id)) && fits(some))
    .sort((a, b) => b.some.length - a.some.length);
  if (candidates[0]) return candidates[0].text;
  const shortest = [...metrics].sort((a, b) => a.seconds.quick - b.seconds.quick);
  const count = shortest.findLastIndex((_, index) => index < MOST_IDS && fits(shortest.slice(0, index + 1))) + 1;
  const ids = shortest.slice(0, count).map(({ id }) => id);
  return count === 0 ? null : ids.sort(byMetricId).join(' ');
}

/** What a user can select by one word. */
const namedSelections = (): { text: string; some: MetricDefinition[] }[] => [
  ...purposeNames.map((name) => ({ text: `--for ${name}`, some: selectMetrics(metricsFor(name), all) })),
  ...[...new Set(all.map(({ category }) => category))].map((name) => ({
    text: `compare ${name}`,
    some: selectMetrics([name], all),
  })),
];
