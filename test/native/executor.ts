/** What the executor's tests have in common, whether they mind times or not. */
import { expect } from 'vitest';
import type { MetricResult } from '../../lib/document.js';

export const sim = { alloc_us: 37, free_us: 23, init_ms: 5, context_ms: 10 };
/** Far below what any of the measurements that are ended here would take. */
export const PROMPT_MS = 1_000;

/** Its own function's value and nobody else's, which is far from it: how exact it is on a busy machine is no subject here. */
export function expectAllocation(result: MetricResult): void {
  expect(result.status).toBe('ok');
  expect(Math.abs((result.value as number) - sim.alloc_us)).toBeLessThan(2);
}
