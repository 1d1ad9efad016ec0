/** Whole runs and comparisons for programs: the same documents as the command line's. */
import { planComparison } from './api/compare.js';
import { type ComparisonHooks, measureComparison, type Tolerance } from './api/comparison.js';
import { type Measuring, metricOptions } from './api/measuring.js';
import { MOST_POSSIBLE, type WantedRounds } from './api/rounds.js';
import { measureRun, planRun } from './api/run.js';
import { expected } from './errors/expected.js';
import { checkOptions, type Known } from './errors/known-options.js';
import { pricesFrom } from './costs/read-prices.js';
import { pricesGiven } from './price-settings.js';
import type { PriceSettings, SystemSettings } from './settings-types.js';
import type { ComparisonDocument, RunDocument, Tier } from './results/document.js';
import { simulatedDriver } from './native/load.js';
import type { MeasureOptions, Progress } from './metrics/core/metric.js';
import { measureOptions, resolveOptions } from './metrics/core/options.js';
import { parsePurpose } from './metrics/purposes.js';
import type { PurposeName } from './results/text/purpose-names.js';
import { FEWEST_ROUNDS, MOST_ROUNDS } from './run/effects/detect.js';
import { parseBudget } from './run/plan/budget.js';
import type { RunHooks } from './run/run-request.js';
import { systemFrom } from './system-settings.js';
import { here } from './systems/kinds.js';
import type { System } from './systems/system.js';
import { ownSignal } from './workers/own-signal.js';

export interface RunMetricsOptions extends MeasureOptions {
  /**
   * Ids, globs over ids, categories, or `all`. Default: of a run the set of a first run, about a minute; of a comparison
   * all.
   */
  metrics?: readonly string[];
  /** What the GPU is shared for: measures the metrics that matter for it, and `metrics` too if given. */
  for?: PurposeName;
  /** Reject with code `UNHEALTHY` if the machine is not idle; a disturbed number is invalid. Default: warnings. */
  strict?: boolean;
  /**
   * A call profile: the file that `profile` wrote, or a shipped one, `eager`, `graphs`, `training` or `jax`. The
   * document then says what that program would pay for interception. OH-005 must be among the metrics.
   */
  profile?: string;
}

export interface CompareSystemsOptions extends RunMetricsOptions {
  /** Budget of time and samples. Default `standard`, as `gpu-virt-bench compare` has it. */
  tier?: Tier;
  /**
   * Systems to compare, at least two; the first is the baseline. Each is a string as for --system (`native`,
   * `hami-core:library=/path,memory=10GiB`) or an object with the keys of the YAML file of --config, proofs included.
   * Relative paths of libraries start at the current directory.
   */
  systems: readonly (string | SystemSettings)[];
  /**
   * Number of rounds, each of which measures every system once, in a fresh worker. Default: 2 at tier quick, 5 at
   * standard, 10 at thorough; verdicts need at least 2.
   */
  rounds?: number;
  /**
   * Time with its unit, e.g. `20min`, for which rounds of the highest tier that fits are planned, in place of `rounds`
   * and `tier`.
   */
  budget?: string;
  /**
   * Size of an effect (0.05 is 5 %) that the rounds are to detect with a probability of about 80 %, in place of `rounds`.
   * They are planned from a pilot of 5 rounds that is not part of the result: at most `maxRounds`, by default 50.
   */
  detect?: number;
  maxRounds?: number;
  /** Keep systems that cannot be measured here as `unsupported`. Default false: they are refused. */
  allowMissing?: boolean;
  /** Measure further rounds of a system after one of its proofs failed. Default false. */
  keepGoing?: boolean;
  /**
   * What a GPU hour costs, as for `execWorkloads`: the document then says what a tenant of each system pays. A metric that
   * is a rate of tokens, requests or steps has costs; without one, a warning says that nothing was priced.
   */
  prices?: PriceSettings;
}

const runOptions: Known<RunMetricsOptions> = {
  ...measureOptions,
  metrics: true,
  for: true,
  strict: true,
  profile: true,
};
const compareOptions: Known<CompareSystemsOptions> = {
  ...runOptions,
  systems: true,
  rounds: true,
  budget: true,
  detect: true,
  maxRounds: true,
  allowMissing: true,
  keepGoing: true,
  prices: true,
};

/** The checked options, as a request to measure something. */
export function prepared({ strict = false, ...options }: MeasureOptions & { strict?: boolean }): {
  tier: Tier;
  seed: number;
  measuring: Measuring;
} {
  if (typeof strict !== 'boolean') throw new TypeError(`Expected strict to be true or false but received ${strict}.`);
  const { device, tier, seed, path, simulate } = resolveOptions(options);
  return {
    tier,
    seed,
    measuring: {
      target: { simulatedDriver: simulatedDriver(simulate), simulate, notice: null },
      device: device === null ? undefined : String(device),
      requireGpu: false,
      timeoutSeconds: null,
      strict,
      options: { ...metricOptions(options), path },
      signal: ownSignal(options.signal),
    },
  };
}

const purposeOf = (name: string | undefined): PurposeName | null =>
  name === undefined ? null : parsePurpose('for', name);

const runHooks = (onProgress: ((progress: Progress) => void) | undefined): RunHooks => ({
  onPrepared: () => {},
  onMetric: () => {},
  onProgress: (progress) => onProgress?.(progress),
  onResult: () => {},
});

/** Only progress is told, and nothing is kept. */
export const hooksOf = (onProgress: ((progress: Progress) => void) | undefined): ComparisonHooks => ({
  finished: () => Promise.resolve([]),
  hooks: () => ({
    ...runHooks(onProgress),
    onStart: () => {},
    onComputeLimit: () => {},
    onRound: () => {},
    onDocument: () => Promise.resolve(),
  }),
  onPlanned: () => {},
});

/**
 * Measures in worker processes under the caller's environment, as `gpu-virt-bench run` does. An abort resolves with
 * `completed: false` and the results so far; it rejects only if nothing could be measured at all.
 */
export async function runMetrics(options: RunMetricsOptions = {}): Promise<RunDocument> {
  checkOptions(options, runOptions);
  const { metrics: selectors = [], for: purpose, profile, ...rest } = options;
  const { tier, seed, measuring } = prepared(rest);
  const run = await planRun({ selectors, purpose: purposeOf(purpose), tier, seed, profile });
  return measureRun(run, measuring, runHooks(rest.onProgress));
}

/** Compares systems in interleaved rounds, as `gpu-virt-bench compare` does; writes no file. */
export async function compareSystems(options: CompareSystemsOptions): Promise<ComparisonDocument> {
  checkOptions(options, compareOptions);
  const { metrics: selectors = [], for: purpose, profile, systems, prices, ...others } = options;
  const { rounds, detect, maxRounds, budget, allowMissing, keepGoing, ...rest } = others;
  const budgetSeconds = budget === undefined ? null : budgetOf(options, budget);
  const tolerance = toleranceOf({ allowMissing, keepGoing });
  const { tier, seed, measuring } = prepared({ ...rest, tier: rest.tier ?? 'standard' });
  const comparison = await planComparison({
    systems: systemsFrom(systems, tolerance),
    selectors,
    purpose: purposeOf(purpose),
    tier,
    seed,
    rounds: roundsOf({ rounds, detect, maxRounds }),
    budgetSeconds,
    tolerance,
    prices: pricesFrom(pricesGiven(prices)),
    profile,
  });
  return measureComparison(comparison, measuring, hooksOf(rest.onProgress));
}

type Given<Name extends keyof CompareSystemsOptions> = { [name in Name]: CompareSystemsOptions[name] | undefined };

export const toleranceOf = ({ allowMissing = false, keepGoing = false }: Given<'allowMissing' | 'keepGoing'>) => ({
  allowMissing,
  keepGoing,
});

export function systemsFrom(given: readonly (string | SystemSettings)[], { allowMissing }: Tolerance): System[] {
  if (!Array.isArray(given)) throw expected('systems', 'a list of systems', given, TypeError);
  const surroundings = { ...here(), allowMissing };
  return given.map((system) => systemFrom(system, surroundings));
}

/** Parses the budget into seconds. */
function budgetOf(options: CompareSystemsOptions, budget: string): number {
  const other = (['rounds', 'detect', 'maxRounds', 'tier'] as const).find((name) => options[name] !== undefined);
  if (other)
    throw new RangeError(`Expected budget or ${other} but received both: budget plans tier and rounds itself.`);
  return parseBudget('budget', budget);
}

/** The number of rounds, or the aim that they are planned for. */
export function roundsOf({ rounds, detect, maxRounds }: Given<'rounds' | 'detect' | 'maxRounds'>): WantedRounds {
  if (detect === undefined) {
    if (maxRounds !== undefined) throw new RangeError('Expected maxRounds together with detect but received it alone.');
    return rounds === undefined ? null : wholeNumber('rounds', rounds, 1);
  }
  if (rounds !== undefined) throw new RangeError('Expected rounds or detect but received both.');
  if (!(detect > 0 && detect <= 1))
    throw new RangeError(`Expected detect to be a number above 0 and at most 1 but received ${detect}.`);
  return { effect: detect, mostRounds: wholeNumber('maxRounds', maxRounds ?? MOST_ROUNDS, FEWEST_ROUNDS) };
}

function wholeNumber(name: string, value: number, least: number): number {
  if (Number.isInteger(value) && value >= least && value <= MOST_POSSIBLE) return value;
  throw expected(name, `an integer from ${least} to ${MOST_POSSIBLE}`, value, RangeError);
}
