/** Comparisons of programs with throughput, latency and tokens, under systems that pay for shares of a card. */
import { concluded } from '../../../lib/costs/concluded.js';
import type { ComparisonDocument, MetricResult, OkResult } from '../../../lib/results/document.js';
import type { GpuPrices } from '../../../lib/results/cost-schemas.js';
import { comparison } from '../report/fixtures.js';
import { result } from '../run/fixtures.js';

export const prices: GpuPrices = {
  currency: 'USD',
  perGpuHour: 3.6,
  systems: [
    { system: 'native', sharePercent: 100, from: 'whole card', perHour: 3.6 },
    { system: 'hami-50', sharePercent: 50, from: 'memory limit', perHour: 1.8 },
    { system: 'mps-50', sharePercent: 50, from: 'compute limit', perHour: 1.8 },
  ],
};

/** A result in the form in which `exec` measures a program. */
export const ofProgram = (id: string, unit: string, direction: MetricResult['direction'], value: number): OkResult =>
  result(id, {
    name: id.slice(id.indexOf('/') + 1),
    category: 'workload',
    unit,
    direction,
    value,
    ci95: [value * 0.99, value * 1.01],
    ciScope: 'between-processes',
    blocks: [value * 0.99, value, value * 1.01],
    estimator: 'median of runs',
    details: { delta: { relative: 0.02 } },
  });

/** Rounds differ a little. */
const drift = (round: number): number => 1 + 0.002 * round;

/** A program's results: tokens per second, and p99 between tokens in ms. */
export function serving(rates: Record<string, [tokensPerSecond: number, p99Ms: number]>) {
  return (round: number): OkResult[] =>
    Object.entries(rates).flatMap(([workload, [rate, p99]]) => [
      ofProgram(`${workload}/tokens-per-second`, 'tokens/s', 'higher', rate * drift(round)),
      ofProgram(`${workload}/itl-p99`, 'ms', 'lower', p99 * drift(round)),
    ]);
}

/** Two batches under three systems: HAMi-core is slower than MPS at batch 1 and as fast at batch 8. */
export const served = (given: GpuPrices | null = prices): ComparisonDocument =>
  concluded(
    {
      ...comparison([
        { name: 'native', metrics: serving({ 'decode@batch=1': [1_000, 1], 'decode@batch=8': [6_000, 1.4] }) },
        {
          name: 'hami-50',
          kind: 'hami-core',
          metrics: serving({ 'decode@batch=1': [450, 2.4], 'decode@batch=8': [2_900, 3.2] }),
        },
        {
          name: 'mps-50',
          kind: 'mps',
          metrics: serving({ 'decode@batch=1': [500, 2], 'decode@batch=8': [2_901, 3.5] }),
        },
      ]),
      callEffects: [],
    },
    given,
  );
