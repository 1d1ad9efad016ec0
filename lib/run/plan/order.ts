/** The order of systems in each round, and of metrics within a round. */
import type { MetricDefinition } from '../../metrics/core/metric.js';
import { shuffled } from '../../stats/random.js';

/**
 * The order makes drift of the machine affect all systems equally. Two systems alternate A B B A; more are reshuffled
 * each round.
 */
export function roundOrder<T>(systems: readonly T[], rounds: number, seed: number): T[][] {
  return Array.from({ length: rounds }, (_, round) => {
    if (systems.length > 2) return shuffled(systems, seed + round);
    return round % 2 === 0 ? [...systems] : [...systems].reverse();
  });
}

/** Random, so that drift does not always affect the same metric; metrics that may harm the card come last. */
export function metricOrder(metrics: readonly MetricDefinition[], seed: number): MetricDefinition[] {
  const order = shuffled(metrics, seed);
  return [...order.filter(({ runsLast }) => !runsLast), ...order.filter(({ runsLast }) => runsLast)];
}
