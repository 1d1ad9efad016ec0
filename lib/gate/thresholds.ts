/** What a gate lets pass, and the defaults; thresholds-file.ts reads the file of --thresholds. */
import { closest } from '../errors/closest.js';
import { quoted, UsageError } from '../errors/usage-error.js';
import type { MetricDefinition } from '../metrics/metric.js';
import type { Delta } from '../stats/effect.js';
import { labelAmong } from '../systems/system-name.js';
import { DEFAULT_MAX_DIFFERENCE_DELTAS, DEFAULT_MAX_REGRESSION_PERCENT } from './defaults.js';

export type Counting = 'pass' | 'fail';

export interface MetricThresholds {
  /** The worst value allowed, in the metric's unit. */
  limit: number | null;
  /** The largest change for the worse; null where it is not judged. Absolute where values may be zero or negative. */
  regression: Delta | null;
  /** What an inconclusive outcome counts as. */
  inconclusive: Counting;
  /** By its own id: then it must be measured, or `missing` says what that counts as. */
  named: boolean;
}

export interface Thresholds {
  missing: Counting;
  /** For a report without a gate: a metric that only had to be measured passes on one round. */
  oneRound?: 'pass';
  /** Null: all. `place` is where in the file each is named. */
  systems: { name: string; place: string }[] | null;
  /** Of every metric, by id. */
  metrics: ReadonlyMap<string, MetricThresholds>;
}

export const OFF = 'off';

/** Where there is no file. */
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

/** With the labels that `labels` have for the same systems. */
export const relabelledThresholds = (thresholds: Thresholds, labels: readonly string[]): Thresholds => ({
  ...thresholds,
  systems: thresholds.systems?.map(({ name, place }) => ({ name: labelAmong(name, labels), place })) ?? null,
});

/** Known before anything is measured: a gate for a system that does not exist would pass everything. */
export function checkSystems({ systems }: Thresholds, measured: readonly string[]): void {
  const unknown = systems?.find(({ name }) => !measured.includes(name));
  if (!unknown) return;
  const near = closest(unknown.name, measured);
  const hint = near ? `did you mean ${near}?` : `there are ${measured.join(', ')}.`;
  throw new UsageError(
    `${unknown.place}: Expected a system that is measured but received ${quoted(unknown.name)}: ${hint}`,
  );
}
