/** What a planned number of rounds will not resolve. The one place that knows how small an effect rounds can show. */
import type { MetricDefinition } from '../metrics/metric.js';
import { counted } from '../results/quantity.js';
import type { Budgeted } from './budget.js';
import { ROUNDS } from './plan.js';

/** So far only from the number of rounds, whatever the metrics are. */
export function unresolvedText({ tier, rounds }: Budgeted & { metrics: readonly MetricDefinition[] }): string {
  const planned = `${counted(rounds, 'round')} at tier ${tier}`;
  return rounds < ROUNDS.standard
    ? `${planned} show large effects only: smaller ones stay inconclusive, and few metrics can be shown to be the same.`
    : `${planned} leave effects inconclusive that are smaller than the differences between rounds: --detect 5% plans rounds for a size of effect.`;
}
