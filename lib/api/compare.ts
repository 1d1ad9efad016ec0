/** From what is asked of `compare` to a comparison that can be measured. */
import { Costing } from '../costs/concluded.js';
import type { Prices } from '../costs/read-prices.js';
import { UsageError } from '../errors/usage-error.js';
import { metrics as all } from '../metrics/registry.js';
import type { Tier } from '../results/document.js';
import type { PurposeName } from '../results/text/purpose-names.js';
import { preparePricing } from '../run/effects/pricing.js';
import { makePlan } from '../run/plan/plan.js';
import { withProcesses } from '../run/plan/processes-per-round.js';
import { comparedMetrics } from '../run/plan/selection.js';
import { checkLabels } from '../systems/kinds.js';
import type { System } from '../systems/system.js';
import type { Comparison, Tolerance } from './comparison.js';
import { checkBesideRecorded, plannedRounds, type WantedRounds, withinBudget } from './rounds.js';

interface CompareInput {
  /** The first is the baseline. */
  systems: readonly System[];
  /** Metrics as a user names them; none: all, or those of the purpose. */
  selectors: readonly string[];
  purpose: PurposeName | null;
  tier: Tier;
  seed: number;
  rounds: WantedRounds;
  /** Null without a budget, which decides on tier and rounds. */
  budgetSeconds: number | null;
  tolerance: Tolerance;
  prices: Prices | null;
  /** A call profile: a file, or the name of a shipped one. */
  profile: string | undefined;
}

/** Throws UsageError for what cannot be compared, before anything is measured. */
export async function planComparison(request: CompareInput): Promise<Comparison> {
  const { systems, selectors, purpose, seed, budgetSeconds, tolerance, prices, profile } = request;
  checkLabels(systems);
  if (systems.length < 2)
    throw new UsageError(
      `Expected at least two systems to compare but received ${systems.length}: name others, e.g. native and hami-core:library=/path/libvgpu.so,memory=10GiB.`,
    );
  checkBesideRecorded(systems, request.rounds, budgetSeconds);
  const costing = new Costing(prices, systems);
  const { metrics } = comparedMetrics({ selectors, purpose });
  const { tier, rounds } = withinBudget(budgetSeconds, request, { metrics, systems: systems.length });
  const pricing = await preparePricing(
    profile,
    metrics.map(({ id }) => id),
  );
  return {
    plan: withProcesses(makePlan(metrics, tier, seed, purpose), systems.length),
    systems,
    rounds: plannedRounds(rounds, tier, metrics),
    tolerance,
    costing,
    definitions: all,
    conclude: (document) => costing.conclude(pricing(document)),
  };
}
