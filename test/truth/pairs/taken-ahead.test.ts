/**
 * A layer that takes many blocks at once and answers from them: no metric of allocations has a number under it. Without
 * it, and under a delay, all are served by the driver.
 */
import { describe, expect, it } from 'vitest';
import type { Check, MetricResult } from '../../../lib/results/document.js';
import { interposerLibrary } from '../../../lib/native/load.js';
import { type MeasureFunction, measure } from '../../native/child.js';
import { measuredOutside } from '../../native/memory-limited.js';

/** Far more than what any layer here adds to a call. */
const sim = { init_ms: 1, context_ms: 1, alloc_us: 30, free_us: 5, vmm_us: 30, alloc_async_us: 30, free_async_us: 5 };

async function under(interpose: string, name: MeasureFunction, options: object = {}): Promise<MetricResult> {
  const environment = { LD_PRELOAD: interposerLibrary() ?? '', GVB_INTERPOSE: interpose };
  const [result] = await measure([[name, { seed: 1, ...options }]], { sim, environment });
  return result as MetricResult;
}

const SERVED = 'every call is served by the driver';
const GROWN = 'allocations take memory of the GPU';
const BURSTS = (call: string) =>
  new RegExp(`^most calls are answered without the driver, and a few pay for all: ${call}: median`);
const BEFORE = (call: string) =>
  new RegExp(`^allocations are answered from memory that was taken before: ${call}: the memory of this process grew`);
const checkOf = ({ checks }: MetricResult, wanted: string): Check =>
  checks.find(({ name }) => name === wanted) as Check;

function expectRefused(result: MetricResult, reason: RegExp): void {
  expect(result).toMatchObject({ status: 'invalid', value: null });
  expect(result.reason).toMatch(reason);
}

describe('bursts', () => {
  it.each([
    ['OH-002, by cuMemAlloc', 'measureMemoryAllocation', 'cuMemAlloc_v2', 'cuMemAlloc of [^:]*', 100],
    [
      'OH-002, by virtual memory',
      'measureMemoryAllocation',
      'cuMemCreate',
      'cuMemCreate of 2 MiB, cuMemCreate alone',
      100,
    ],
    ['OH-002, by the pool', 'measureMemoryAllocation', 'cuMemAllocAsync', 'cuMemAllocAsync of 2 MiB', 100],
    ['OH-007', 'measureMemoryTracking', 'cuMemAlloc_v2', 'cuMemAlloc of 64 KiB', 100],
    [
      'LLM-002, by virtual memory',
      'measureKvCacheGrowth',
      'cuMemCreate',
      'a page by cuMemCreate, cuMemCreate alone',
      3,
    ],
    ['LLM-002, by the pool', 'measureKvCacheGrowth', 'cuMemAllocAsync', 'a page by cuMemAllocAsync', 3],
    ['LLM-005', 'measureMemoryPool', 'cuMemAllocAsync', 'cuMemAllocAsync of [^:,]*', 200],
    ['LLM-005, by name', 'measureMemoryPool', 'cuMemAllocFromPoolAsync', 'cuMemAllocFromPoolAsync of [^:,]*', 200],
  ] as const)('%s', async (_, name, path, call, iterations) => {
    const interpose = `ahead=40,aheadpaths=${path}`;
    expectRefused(await under(interpose, name, { iterations }), BURSTS(call));
  });
});
