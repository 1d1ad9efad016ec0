/** The thresholds of a gate and their defaults; thresholds-file.ts reads the file of --thresholds. */
import { didYouMean } from '../errors/closest.js';
import { quoted, UsageError } from '../errors/usage-error.js';
import type { MetricDefinition } from '../metrics/core/metric.js';
import type { Delta } from '../stats/rule/effect.js';
import { labelAmong } from '../systems/system-name.js';
import { DEFAULT_MAX_DIFFERENCE_DELTAS, DEFAULT_MAX_REGRESSION_PERCENT } from './defaults.js';

export type Counting = 'pass' | 'fail';

export interface MetricThresholds {
  /** The worst allowed value, in the metric's unit. */
  limit: number | null;
  /**
   * The largest allowed change for the worse; null if it is not judged. Absolute if values may be zero or negative.
   */
  regression: Delta | null;
  /** How an inconclusive outcome counts. */
  inconclusive: Counting;
  /** Whether the file names the metric by its own id: it must then be measured, unless `missing` says otherwise. */
  named: boolean;
}

export interface Thresholds {
  missing: Counting;
  /** Used for a report without a gate: a metric that only had to be measured passes with one round. */
  oneRound?: 'pass';
  /** Null: all systems. `place` is where the file names each. */
  systems: { name: string; place: string }[] | null;
  /** Thresholds of every metric, by id. */
  metrics: ReadonlyMap<string, MetricThresholds>;
}

export const OFF = 'off';

/** Used if there is no file. */
export const defaultThresholds = (all: readonly MetricDefinition[]): Thresholds => ({
  missing: 'fail',
  systems: null,
  metrics: thresholdsOfEach(all, DEFAULT_MAX_REGRESSION_PERCENT, 'pass'),
});

export function thresholdsOfEach(
  all: readonly MetricDefinition[],
  percent: number | typeof OFF,
  inconclusive: Counting,
) {
  const regressionOf = ({ delta, direction }: MetricDefinition): Delta | null => {
    if (percent === OFF || direction === 'none') return null;
    if ('absolute' in delta) return { absolute: DEFAULT_MAX_DIFFERENCE_DELTAS * delta.absolute };
    return { relative: percent / 100 };
  };
  return new Map<string, MetricThresholds>(
    all.map((metric) => [metric.id, { limit: null, regression: regressionOf(metric), inconclusive, named: false }]),
  );
}

/** Replaces system labels by those in `labels` for the same systems. */
export const relabelledThresholds = (thresholds: Thresholds, labels: readonly string[]): Thresholds => ({
  ...thresholds,
  systems: thresholds.systems?.map(({ name, place }) => ({ name: labelAmong(name, labels), place })) ?? null,
});

/** Checked before anything is measured: thresholds for a system that does not exist would always pass. */
export function checkSystems({ systems }: Thresholds, measured: readonly string[]): void {
  const unknown = systems?.find(({ name }) => !measured.includes(name));
  if (!unknown) return;
  const hint = didYouMean(unknown.name, measured, `there are ${measured.join(', ')}.`);
  throw new UsageError(
    `${unknown.place}: Expected a system that is measured but received ${quoted(unknown.name)}: ${hint}`,
  );
}
