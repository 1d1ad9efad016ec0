/** Checks that a result's statements about its samples are true. */
import { expect } from 'vitest';
import type { MetricResult } from '../../lib/results/document.js';
import { blockMedians } from '../../lib/stats/blocks.js';
import { summarise } from '../../lib/stats/summary.js';

/** `count`: the requested number of samples; null for a metric that decides itself. */
export function expectSamples({ id, samples, stats, blocks, status, value }: MetricResult, count: number | null): void {
  if (count !== null) expect([id, samples?.length]).toEqual([id, count]);
  const { effectiveSamples, ...own } = stats ?? {};
  expect(summarise(samples as number[])).toEqual(own);
  if (effectiveSamples !== undefined) expect(effectiveSamples).toBeLessThanOrEqual(samples?.length ?? 0);
  // The samples of one release of START-006 are a block.
  if (id !== 'START-006') expect(blocks).toEqual(blockMedians(samples as number[]));
  // OH-007's value is on a line through several medians.
  if (status === 'ok' && count !== null && id !== 'OH-007') expect(value).toBeCloseTo(stats?.p50 as number, 9);
}
