/** In which order systems run, round by round, and metrics within a round. */
import type { MetricDefinition } from '../metrics/metric.js';
import { shuffled } from '../stats/random.js';

/**
 * So that a drift of the machine meets all systems alike. Two systems alternate A B B A; more are shuffled again each
 * round. One system just repeats.
 */
export function roundOrder<T>(systems: readonly T[], rounds: number, seed: number): T[][] {
  return Array.from({ length: rounds }, (_, round) => {
    if (systems.length > 2) return shuffled(systems, seed + round);
    return round % 2 === 0 ? [...systems] : [...systems].reverse();
  });
}

/** Random, so that a drift of the machine does not always meet the same metric; what may harm the card comes last. */
export function metricOrder(metrics: readonly MetricDefinition[], seed: number): MetricDefinition[] {
  const order = shuffled(metrics, seed);
  return [...order.filter(({ runsLast }) => !runsLast), ...order.filter(({ runsLast }) => runsLast)];
}
