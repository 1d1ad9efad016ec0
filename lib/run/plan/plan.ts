/** What a run measures, in which order, and an estimate of its duration. */
import type { Tier } from '../../results/document.js';
import type { PurposeName } from '../../results/text/purpose-names.js';
import type { MetricDefinition } from '../../metrics/core/metric.js';
import { metricOrder } from './order.js';

export interface Plan {
  /** Metrics in the order of measurement. */
  metrics: MetricDefinition[];
  tier: Tier;
  seed: number;
  /** Processes per round of each metric that has further ones; see withProcesses. */
  processes?: Readonly<Record<string, number>> | undefined;
  /** Estimated seconds of one round of one system. */
  estimatedSeconds: number;
  /** The purpose that --for names. */
  purpose?: PurposeName;
}

export function makePlan(
  metrics: readonly MetricDefinition[],
  tier: Tier,
  seed: number,
  purpose: PurposeName | null = null,
): Plan {
  return {
    metrics: metricOrder(metrics, seed),
    tier,
    seed,
    estimatedSeconds: secondsOf(metrics, tier),
    ...(purpose !== null && { purpose }),
  };
}

/** Default rounds per tier (at least the reference's P). */
export const ROUNDS = { quick: 2, standard: 5, thorough: 10 } as const;

/** Seconds for starting and proving the workers of a round: 0.4 to 1.6 s in the comparisons recorded on H200s. */
const START_SECONDS = 1;

/** Estimates the seconds of one round of one system. */
export const secondsOf = (metrics: readonly MetricDefinition[], tier: Tier): number =>
  metrics.reduce((sum, { seconds }) => sum + seconds[tier], START_SECONDS);

/** The deadline of a metric. It is generous, because a deadline is for hangs, not for slow machines. */
export const defaultTimeoutSeconds = ({ deadlineSeconds, seconds }: MetricDefinition, tier: Tier): number =>
  deadlineSeconds ?? 60 + 10 * seconds[tier];
