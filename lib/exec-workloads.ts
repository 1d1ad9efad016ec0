/** Programs under several systems, for programs: the document of `exec`. */
import { Costing } from './costs/concluded.js';
import { pricesFrom } from './costs/read-prices.js';
import { pricesGiven } from './price-settings.js';
import type { PriceSettings, SystemSettings, WorkloadSettings } from './settings-types.js';
import type { ComparisonDocument } from './results/document.js';
import { refuseUnavailable, compareSystems as compare } from './run/compare.js';
import { makePlan } from './run/plan/plan.js';
import { callerEnvironment } from './systems/process/environment.js';
import { checkLabels, here } from './systems/kinds.js';
import { systemFrom } from './system-settings.js';
import { type CompareSystemsOptions, hooksOf, prepared, wholeNumber } from './whole-runs.js';
import { sourceFrom } from './workload-settings.js';
import { checkPrograms } from './workloads/program/check-programs.js';
import { withLabels, withWarnings } from './workloads/metrics/conclusions.js';
import { metricsOf } from './workloads/metrics/metrics-of.js';
import { checkNames, workloadsOf } from './workloads/settings/read-workloads.js';
import { recordOf } from './workloads/settings/workload-record.js';

export interface ExecWorkloadsOptions extends Pick<
  CompareSystemsOptions,
  | 'device'
  | 'simulate'
  | 'samples'
  | 'seed'
  | 'signal'
  | 'onProgress'
  | 'strict'
  | 'rounds'
  | 'allowMissing'
  | 'keepGoing'
> {
  workloads: readonly WorkloadSettings[];
  /** As for `compareSystems`; the first is the baseline. Default: `native`. */
  systems?: readonly (string | SystemSettings)[];
  /** What a GPU hour costs: rates of tokens, requests and steps then have costs. */
  prices?: PriceSettings;
}

const DEFAULT_ROUNDS = 5;

/** As `gpu-virt-bench exec` does; writes no file, and keeps no log. */
export async function execWorkloads(options: ExecWorkloadsOptions): Promise<ComparisonDocument> {
  const {
    workloads: given,
    systems = ['native'],
    prices,
    rounds,
    allowMissing = false,
    keepGoing = false,
    ...rest
  } = options;
  const surroundings = { ...here(), allowMissing };
  const parsed = systems.map((system) => systemFrom(system, surroundings));
  checkLabels(parsed);
  if (parsed.length === 0) throw new RangeError('Expected at least one system but received none.');
  const workloads = given.flatMap((workload) => workloadsOf(sourceFrom(workload)));
  checkNames(workloads);
  if (workloads.length === 0) throw new RangeError('Expected at least one workload but received none.');
  const costing = new Costing(pricesFrom(pricesGiven(prices)), parsed);
  const caller = callerEnvironment();
  checkPrograms(workloads, parsed, caller);
  refuseUnavailable({ systems: parsed, allowMissing });
  const settings = { caller, logsOf: null, keepGoing };
  const definitions = workloads.flatMap((workload) => metricsOf(workload, settings));
  const request = prepared(rest);
  const document = await compare(
    {
      ...request,
      plan: makePlan(definitions, 'standard', request.plan.seed),
      systems: parsed,
      rounds: wholeNumber('rounds', rounds ?? DEFAULT_ROUNDS, 1),
      finished: [],
      allowMissing,
      keepGoing,
      environment: caller,
      recorded: { workloads: await Promise.all(workloads.map((workload) => recordOf(workload, caller))) },
    },
    {
      ...hooksOf(options.onProgress),
      onStart: ({ device }) => costing.onCard(device),
      onComputeLimit: () => {},
      onRound: () => {},
      onDocument: () => Promise.resolve(),
    },
  );
  return costing.conclude(withWarnings(withLabels(document)));
}
