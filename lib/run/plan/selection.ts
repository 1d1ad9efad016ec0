/** Which metrics a command measures: by selectors, by a purpose, or its default if neither is given. */
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

/** Selects by selectors, which add to a purpose. `otherwise`: the selectors if neither is given. */
function selected({ selectors, purpose }: Named, otherwise: readonly string[]): Selection {
  const named = [...(purpose === null ? [] : metricsFor(purpose)), ...selectors];
  return { metrics: selectMetrics(named.length > 0 ? named : otherwise, metrics), purpose };
}

/** Selects the metrics of a comparison; without selectors and purpose all. */
export const comparedMetrics = (named: Named): Selection => selected(named, [ALL]);

/** Selects the metrics of a run; without selectors and purpose the set of a first run. */
export const metricsOfRun = (named: Named): Selection & { isFirstRun: boolean } => ({
  ...selected(named, firstRun),
  isFirstRun: named.purpose === null && named.selectors.length === 0,
});
