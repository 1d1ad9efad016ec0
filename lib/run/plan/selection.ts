/** Which metrics a command measures: selectors, a purpose, or what it measures if nothing is named. */
import { firstRun } from '../../metrics/first-run.js';
import type { MetricDefinition } from '../../metrics/core/metric.js';
import { metricsFor } from '../../metrics/purposes.js';
import { metrics } from '../../metrics/registry.js';
import type { PurposeName } from '../../results/text/purpose-names.js';
import { ALL, selectMetrics } from './select.js';

interface Selection {
  metrics: MetricDefinition[];
  purpose: PurposeName | null;
}

interface Named {
  selectors: readonly string[];
  purpose: PurposeName | null;
}

/** `otherwise`: the selectors if nothing is named. Selectors add to a purpose. */
function selected({ selectors, purpose }: Named, otherwise: readonly string[]): Selection {
  const named = [...(purpose === null ? [] : metricsFor(purpose)), ...selectors];
  return { metrics: selectMetrics(named.length > 0 ? named : otherwise, metrics), purpose };
}

/** A comparison measures all metrics if nothing is named. */
export const comparedMetrics = (named: Named): Selection => selected(named, [ALL]);

/** A run measures the set of a first run if nothing is named. */
export const metricsOfRun = (named: Named): Selection & { isFirstRun: boolean } => ({
  ...selected(named, firstRun),
  isFirstRun: named.purpose === null && named.selectors.length === 0,
});
