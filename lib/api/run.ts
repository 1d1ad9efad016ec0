/** From what is asked of `run` to a document. */
import type { RunDocument, Tier } from '../results/document.js';
import type { PurposeName } from '../results/text/purpose-names.js';
import { preparePricing } from '../run/effects/pricing.js';
import { makePlan, type Plan } from '../run/plan/plan.js';
import { metricsOfRun } from '../run/plan/selection.js';
import { runMetrics } from '../run/run.js';
import type { RunHooks } from '../run/run-request.js';
import { callersSystem } from '../systems/process/environment.js';
import type { Measuring } from './measuring.js';

interface RunInput {
  /** Metrics as a user names them; none: the set of a first run, or those of the purpose. */
  selectors: readonly string[];
  purpose: PurposeName | null;
  tier: Tier;
  seed: number;
  /** A call profile: a file, or the name of a shipped one. */
  profile: string | undefined;
}

/** A run that is planned and checked. */
interface Run {
  plan: Plan;
  /** Whether nothing was named. */
  isFirstRun: boolean;
  /** Adds what follows from the results. */
  conclude: (document: RunDocument) => RunDocument;
}

/** Throws UsageError for what cannot be measured, before anything is. */
export async function planRun({ selectors, purpose, tier, seed, profile }: RunInput): Promise<Run> {
  const { metrics, isFirstRun } = metricsOfRun({ selectors, purpose });
  const pricing = await preparePricing(
    profile,
    metrics.map(({ id }) => id),
  );
  return { plan: makePlan(metrics, tier, seed, purpose), isFirstRun, conclude: pricing };
}

/** Measures under the caller's own environment. */
export const measureRun = async (
  { plan, conclude }: Run,
  measuring: Measuring,
  hooks: RunHooks,
): Promise<RunDocument> =>
  conclude(await runMetrics({ ...measuring, plan, system: callersSystem(measuring.device) }, hooks));
