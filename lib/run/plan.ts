/** What a run will measure, in which order, and about how long it will take. */
import type { Tier } from '../results/document.js';
import type { MetricDefinition } from '../metrics/metric.js';
import { metricOrder } from './order.js';

export interface Plan {
  /** In the order of measurement. */
  metrics: MetricDefinition[];
  tier: Tier;
  seed: number;
  estimatedSeconds: number;
}

export function makePlan(metrics: readonly MetricDefinition[], tier: Tier, seed: number): Plan {
  const estimatedSeconds = metrics.reduce((sum, metric) => sum + metric.seconds[tier], 0);
  return { metrics: metricOrder(metrics, seed), tier, seed, estimatedSeconds };
}

/** Generous on purpose: a deadline is for what hangs, not for what is slow. */
export const defaultTimeoutSeconds = ({ deadlineSeconds, seconds }: MetricDefinition, tier: Tier): number =>
  deadlineSeconds ?? 60 + 10 * seconds[tier];
