/** What the executor's tests have in common, whether they mind times or not. */
import { expect } from 'vitest';
import type { MetricResult } from '../../lib/document.js';

export const sim = { alloc_us: 37, free_us: 23, init_ms: 5, context_ms: 10 };
/**
 * Its own function's value and no other's. How exact it is, is no subject here (test/truth): a call takes what the
 * simulated card is set to at least, and the next slower one takes half as much again.
 */
export function expectCost(result: MetricResult, us: number): void {
  expect(result.value).toBeGreaterThanOrEqual(us);
  expect(result.value).toBeLessThan(1.5 * us);
}

export function expectAllocation(result: MetricResult): void {
  expect(result.status).toBe('ok');
  expectCost(result, sim.alloc_us);
}
