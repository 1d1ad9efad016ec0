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

/**
 * Shuffles metrics, so that drift does not always affect the same one. Those that share a process stay together, where the
 * first of them is, because each further process takes half a second; metrics that may harm the card come last.
 */
export function metricOrder(metrics: readonly MetricDefinition[], seed: number): MetricDefinition[] {
  const order = shuffled(metrics, seed);
  const harmless = order.filter(({ runsLast }) => !runsLast);
  const shared = harmless.filter(({ where }) => where === 'process');
  const kept = harmless.flatMap((metric) => (metric === shared[0] ? shared : metric.where === 'process' ? [] : metric));
  return [...kept, ...order.filter(({ runsLast }) => runsLast)];
}
