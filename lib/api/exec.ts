/** From what is asked of `exec` to a comparison of programs that can be measured. */
import { Costing } from '../costs/concluded.js';
import type { Prices } from '../costs/read-prices.js';
import { UsageError } from '../errors/usage-error.js';
import { metrics as builtIn } from '../metrics/registry.js';
import type { Tier } from '../results/document.js';
import { makePlan } from '../run/plan/plan.js';
import { checkLabels } from '../systems/kinds.js';
import { callerEnvironment } from '../systems/process/environment.js';
import type { System } from '../systems/system.js';
import { withLabels, withWarnings } from '../workloads/metrics/conclusions.js';
import { metricsOf } from '../workloads/metrics/metrics-of.js';
import { checkPrograms } from '../workloads/program/check-programs.js';
import type { ExecSettings } from '../workloads/round/round-of-runs.js';
import { checkNames, workloadsOf } from '../workloads/settings/read-workloads.js';
import { recordOf } from '../workloads/settings/workload-record.js';
import type { Workload, WorkloadSource } from '../workloads/workload-type.js';
import type { Comparison, Tolerance } from './comparison.js';
import { checkBesideRecorded, plannedRounds, type WantedRounds } from './rounds.js';

interface ExecInput {
  /** The first is the baseline. */
  systems: readonly System[];
  sources: readonly WorkloadSource[];
  tier: Tier;
  seed: number;
  rounds: WantedRounds;
  tolerance: Tolerance;
  prices: Prices | null;
  /** Where the output of programs is kept. */
  logsOf: ExecSettings['logsOf'];
}

export interface Execution extends Comparison {
  workloads: readonly Workload[];
}

/** Throws UsageError for what cannot run, before anything does. */
export function planExecution(request: ExecInput): Execution {
  const { systems, sources, tier, seed, rounds, tolerance, prices, logsOf } = request;
  checkLabels(systems);
  if (systems.length === 0) throw new UsageError('Expected at least one system but received none.');
  checkBesideRecorded(systems, rounds);
  const workloads = sources.flatMap(workloadsOf);
  checkNames(workloads);
  if (workloads.length === 0) throw new UsageError('Expected at least one workload but received none.');
  const caller = callerEnvironment();
  checkPrograms(workloads, systems, caller);
  const costing = new Costing(prices, systems);
  const hasTurns = systems.some(({ turnMs }) => turnMs !== undefined);
  const settings: ExecSettings = { caller, logsOf, keepGoing: tolerance.keepGoing, hasTurns };
  const metrics = workloads.flatMap((workload) => metricsOf(workload, settings));
  return {
    workloads,
    plan: makePlan(metrics, tier, seed),
    systems,
    rounds: plannedRounds(rounds, tier, metrics),
    tolerance,
    costing,
    definitions: [...builtIn, ...metrics, ...costing.definitions(metrics)],
    recorded: async () => ({ workloads: await Promise.all(workloads.map((workload) => recordOf(workload, caller))) }),
    conclude: (document) => costing.conclude(withWarnings(withLabels(document))),
  };
}
