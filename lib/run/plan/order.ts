/** The order of systems in each round, and of metrics within a round. */
import type { MetricDefinition } from '../../metrics/core/metric.js';
import { shuffled } from '../../stats/random.js';

/**
 * Orders systems so that drift of the machine affects all equally. Two systems alternate A B B A; more are reshuffled
 * each round.
 */
export function roundOrder<T>(systems: readonly T[], rounds: number, seed: number): T[][] {
  return Array.from({ length: rounds }, (_, round) => {
    if (systems.length > 2) return shuffled(systems, seed + round);
    return round % 2 === 0 ? [...systems] : [...systems].reverse();
  });
}

/** Shuffles metrics, so that drift does not always affect the same one; metrics that may harm the card come last. */
export function metricOrder(metrics: readonly MetricDefinition[], seed: number): MetricDefinition[] {
  const order = shuffled(metrics, seed);
  return [...order.filter(({ runsLast }) => !runsLast), ...order.filter(({ runsLast }) => runsLast)];
}
