/** Programs under several systems, for programs: the document of `exec`. */
import { measureComparison } from './api/comparison.js';
import { planExecution } from './api/exec.js';
import { expected } from './errors/expected.js';
import { checkOptions, type Known } from './errors/known-options.js';
import { pricesFrom } from './costs/read-prices.js';
import { pricesGiven } from './price-settings.js';
import type { PriceSettings, SystemSettings, WorkloadSettings } from './settings-types.js';
import type { ComparisonDocument, Tier } from './results/document.js';
import { type CompareSystemsOptions, hooksOf, prepared, roundsOf, systemsFrom, toleranceOf } from './whole-runs.js';
import { sourceFrom } from './workload-settings.js';

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
  | 'detect'
  | 'maxRounds'
  | 'allowMissing'
  | 'keepGoing'
> {
  workloads: readonly WorkloadSettings[];
  /** Texts or objects, as for `compareSystems`; the first is the baseline. Default: `native`. */
  systems?: readonly (string | SystemSettings)[];
  /** Decides on the number of rounds if `rounds` is not given: 2 at tier quick, 5 at standard, 10 at thorough. Default `standard`. */
  tier?: Tier;
  /** What a GPU hour costs: rates of tokens, requests and steps then have costs. */
  prices?: PriceSettings;
}

const known: Known<ExecWorkloadsOptions> = {
  workloads: true,
  systems: true,
  tier: true,
  rounds: true,
  detect: true,
  maxRounds: true,
  prices: true,
  device: true,
  simulate: true,
  samples: true,
  seed: true,
  strict: true,
  allowMissing: true,
  keepGoing: true,
  signal: true,
  onProgress: true,
};

/** Runs programs as `gpu-virt-bench exec` does; writes no file, and keeps no log. */
export async function execWorkloads(options: ExecWorkloadsOptions): Promise<ComparisonDocument> {
  checkOptions(options, known);
  const { workloads, systems = ['native'], prices, ...others } = options;
  if (!Array.isArray(workloads)) throw expected('workloads', 'a list of workloads', workloads, TypeError);
  const { rounds, detect, maxRounds, allowMissing, keepGoing, ...rest } = others;
  const tolerance = toleranceOf({ allowMissing, keepGoing });
  const { tier, seed, measuring } = prepared({ ...rest, tier: rest.tier ?? 'standard' });
  const execution = planExecution({
    systems: systemsFrom(systems, tolerance),
    sources: workloads.map(sourceFrom),
    tier,
    seed,
    rounds: roundsOf({ rounds, detect, maxRounds }),
    tolerance,
    prices: pricesFrom(pricesGiven(prices)),
    logsOf: null,
  });
  return measureComparison(execution, measuring, hooksOf(rest.onProgress));
}
