/** Whole runs and comparisons for programs: the same documents as the command line's. */
import type { ComparisonDocument, RunDocument } from './results/document.js';
import { simulatedDriver } from './metrics/measure.js';
import type { MeasureOptions, Progress } from './metrics/metric.js';
import { resolveOptions } from './metrics/options.js';
import { metrics } from './metrics/registry.js';
import { compareSystems as compare } from './run/compare.js';
import { makePlan } from './run/plan.js';
import { type RunHooks, runMetrics as run } from './run/run.js';
import { selectMetrics } from './run/select.js';
import { callerEnvironment, environmentSystem } from './systems/environment.js';
import { type SystemSettings, systemFrom } from './system-settings.js';
import { checkLabels, here } from './systems/kinds.js';
import { ownSignal } from './workers/own-signal.js';

export interface RunMetricsOptions extends MeasureOptions {
  /** Ids, globs over ids, categories. Default: all. */
  metrics?: readonly string[];
  /** Reject with code `UNHEALTHY` where the machine is not at rest; a disturbed number is invalid. Default: warnings. */
  strict?: boolean;
}

export interface CompareSystemsOptions extends RunMetricsOptions {
  /**
   * At least two, the first is the baseline. Each is a text as --system takes it (`native`,
   * `hami-core:library=/path,memory=10GiB`) or an object with the keys of the YAML file of --config, proofs included.
   * Relative paths of libraries start at the current directory.
   */
  systems: readonly (string | SystemSettings)[];
  /** Each measures every system once, in a fresh worker. Default 5; verdicts need at least 2. */
  rounds?: number;
  /** Keep systems that cannot be measured here as `unsupported`. Default false: they are refused. */
  allowMissing?: boolean;
  /** Measure further rounds of a system after one of its proofs failed. Default false. */
  keepGoing?: boolean;
}

const DEFAULT_ROUNDS = 5;

function prepared({ metrics: selectors = [], strict = false, ...options }: RunMetricsOptions) {
  if (typeof strict !== 'boolean') throw new TypeError(`Expected strict to be true or false but received ${strict}.`);
  const { device, tier, seed, path, simulate, iterations, warmup, resolution, samples, model } =
    resolveOptions(options);
  return {
    plan: makePlan(selectMetrics(selectors, metrics), tier, seed),
    target: { simulatedDriver: simulatedDriver(simulate), simulate, notice: null },
    device: device === null ? undefined : String(device),
    requireGpu: false,
    timeoutSeconds: null,
    strict,
    options: {
      path,
      samples,
      ...(iterations !== null && { iterations }),
      ...(warmup !== null && { warmup }),
      ...(iterations === null && { resolution }),
      ...(options.workload !== undefined && { workload: options.workload }),
      ...(model !== null && { model }),
    },
    signal: ownSignal(options.signal),
  };
}

const hooksOf = (onProgress: ((progress: Progress) => void) | undefined): RunHooks => ({
  onPrepared: () => {},
  onMetric: () => {},
  onProgress: (progress) => onProgress?.(progress),
  onResult: () => {},
});

/**
 * Measures in worker processes under the caller's environment, as `gpu-virt-bench run` does. An abort resolves with
 * `completed: false` and what there is; it rejects only when nothing could be measured at all.
 */
export async function runMetrics(options: RunMetricsOptions = {}): Promise<RunDocument> {
  return run({ ...prepared(options), system: environmentSystem() }, hooksOf(options.onProgress));
}

/** Compares systems in interleaved rounds, as `gpu-virt-bench compare` does; writes no file. */
export async function compareSystems(options: CompareSystemsOptions): Promise<ComparisonDocument> {
  const { systems, rounds = DEFAULT_ROUNDS, allowMissing = false, keepGoing = false, ...rest } = options;
  if (!Number.isInteger(rounds) || rounds < 1)
    throw new RangeError(`Expected rounds to be an integer of at least 1 but received ${rounds}.`);
  const surroundings = { ...here(), allowMissing };
  const parsed = systems.map((system) => systemFrom(system, surroundings));
  checkLabels(parsed);
  if (parsed.length < 2) throw new RangeError(`Expected at least two systems but received ${parsed.length}.`);
  return compare(
    {
      ...prepared(rest),
      systems: parsed,
      rounds,
      allowMissing,
      keepGoing,
      finished: [],
      environment: callerEnvironment(),
    },
    {
      ...hooksOf(options.onProgress),
      onStart: () => {},
      onComputeLimit: () => {},
      onRound: () => {},
      onDocument: () => Promise.resolve(),
    },
  );
}
