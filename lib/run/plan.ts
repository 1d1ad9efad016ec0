/** What a run will measure, in which order, and about how long it will take. */
import type { Tier } from '../document.js';
import type { MetricDefinition } from '../metrics/metric.js';

export interface Plan {
  /** In the order of measurement. */
  metrics: MetricDefinition[];
  tier: Tier;
  seed: number;
  estimatedSeconds: number;
}

export function makePlan(metrics: readonly MetricDefinition[], tier: Tier, seed: number): Plan {
  const estimatedSeconds = metrics.reduce((sum, metric) => sum + metric.seconds[tier], 0);
  return { metrics: shuffled(metrics, seed), tier, seed, estimatedSeconds };
}

/** Fisher–Yates. The order is random so that a drift of the machine does not always meet the same metric. */
export function shuffled<T>(items: readonly T[], seed: number): T[] {
  const random = mulberry32(seed);
  const result = [...items];
  for (let i = result.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [result[i], result[j]] = [result[j] as T, result[i] as T];
  }
  return result;
}

/** Tommy Ettinger's 32-bit generator (public domain): small, and the same on every platform. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Generous on purpose: a deadline is for what hangs, not for what is slow. */
export const defaultTimeoutSeconds = (metric: MetricDefinition, tier: Tier): number => 60 + 10 * metric.seconds[tier];
