/** What `compare` and `exec` have in common, as commands and as functions of the library: the measurement of a plan. */
import type { Costing } from '../costs/concluded.js';
import type { MetricDefinition } from '../metrics/core/metric.js';
import type { ComparisonDocument } from '../results/document.js';
import { compareSystems } from '../run/compare.js';
import type { CompareHooks, CompareRequest } from '../run/compare-request.js';
import { compareToDetect, type Staged } from '../run/effects/detect.js';
import type { Plan } from '../run/plan/plan.js';
import { recordedRounds } from '../saved/recorded-rounds.js';
import { callerEnvironment } from '../systems/process/environment.js';
import type { System } from '../systems/system.js';
import type { Measuring } from './measuring.js';
import type { PlannedRounds } from './rounds.js';

/** Failures that do not end a comparison; see CompareRequest. */
export type Tolerance = Required<Pick<CompareRequest, 'allowMissing' | 'keepGoing'>>;

/** A comparison that is planned and checked. */
export interface Comparison {
  plan: Plan;
  systems: readonly System[];
  rounds: PlannedRounds;
  tolerance: Tolerance;
  costing: Costing;
  /** The metrics that thresholds may name. */
  definitions: readonly MetricDefinition[];
  /** Entries for the plan of every round, in addition to the options. */
  recorded?: () => Promise<NonNullable<CompareRequest['recorded']>>;
  /** Adds what follows from the results. */
  conclude: (document: ComparisonDocument) => ComparisonDocument;
}

/** What a caller does meanwhile: the command line talks, keeps files and reuses those of an earlier run. */
export interface ComparisonHooks extends Staged {
  /** Adds to the document before it is concluded. */
  onMeasured?: (document: ComparisonDocument) => Promise<ComparisonDocument>;
}

export async function measureComparison(
  comparison: Comparison,
  measuring: Measuring,
  hooks: ComparisonHooks,
): Promise<ComparisonDocument> {
  const { plan, systems, rounds, tolerance, costing, recorded, conclude } = comparison;
  const environment = callerEnvironment();
  const request = {
    ...measuring,
    ...tolerance,
    plan,
    systems,
    environment,
    ...(recorded && { recorded: await recorded() }),
  };
  const staged: Staged = { ...hooks, hooks: (stage) => priced(hooks.hooks(stage), costing) };
  const measured =
    typeof rounds === 'number'
      ? await compareSystems(
          { ...request, rounds, finished: await roundsBefore(comparison, rounds, hooks) },
          staged.hooks('round'),
        )
      : await compareToDetect(request, rounds, staged);
  return conclude((await hooks.onMeasured?.(measured)) ?? measured);
}

/** Those of an earlier run of the same request, and of a system that another session measured. */
async function roundsBefore({ systems, plan }: Comparison, rounds: number, hooks: ComparisonHooks) {
  const ids = plan.metrics.map(({ id }) => id);
  const recorded = await recordedRounds(systems, rounds, ids);
  const finished = await hooks.finished('round', rounds);
  return systems.map((_, index) => recorded[index] ?? finished[index] ?? []);
}

/** A card without a price is refused before the first round. */
const priced = (hooks: CompareHooks, costing: Costing): CompareHooks => ({
  ...hooks,
  onStart: (choice, warnings) => {
    costing.onCard(choice.device);
    hooks.onStart(choice, warnings);
  },
});
