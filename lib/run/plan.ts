/** What a run measures, in which order, and an estimate of its duration. */
import type { Tier } from '../results/document.js';
import type { MetricDefinition } from '../metrics/metric.js';
import { metricOrder } from './order.js';

export interface Plan {
  /** Metrics in the order of measurement. */
  metrics: MetricDefinition[];
  tier: Tier;
  seed: number;
  /** Processes per round, of metrics with further ones; see withProcesses. */
  processes?: Readonly<Record<string, number>> | undefined;
  /** Of one round of one system. */
  estimatedSeconds: number;
}

export function makePlan(metrics: readonly MetricDefinition[], tier: Tier, seed: number): Plan {
  const estimatedSeconds = metrics.reduce((sum, metric) => sum + metric.seconds[tier], 0);
  return { metrics: metricOrder(metrics, seed), tier, seed, estimatedSeconds };
}

/** Generous, because a deadline is for hangs, not for slow machines. */
export const defaultTimeoutSeconds = ({ deadlineSeconds, seconds }: MetricDefinition, tier: Tier): number =>
  deadlineSeconds ?? 60 + 10 * seconds[tier];
