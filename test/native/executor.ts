/** Shared by the executor's tests, whether they check times or not. */
import { expect } from 'vitest';
import type { MetricResult } from '../../lib/results/document.js';

export const sim = { alloc_us: 37, free_us: 23, init_ms: 5, context_ms: 10 };
/**
 * The value belongs to the metric's own function. test/truth checks its accuracy; here a call takes at least the
 * simulated card's setting, and less than the next slower step, which takes a hundred times as long.
 */
export function expectCost(result: MetricResult, us: number): void {
  expect(result.value).toBeGreaterThanOrEqual(us);
  expect(result.value).toBeLessThan(1_000 * sim.init_ms);
}

export function expectAllocation(result: MetricResult): void {
  expect(result.status).toBe('ok');
  expectCost(result, sim.alloc_us);
}
