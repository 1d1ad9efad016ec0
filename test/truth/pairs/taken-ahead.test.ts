/**
 * A layer that takes many blocks at once and answers from them: no metric of allocations has a number under it. Without
 * one, and under delays, all calls are served by the driver.
 */
import { describe, expect, it } from 'vitest';
import type { MetricResult } from '../../../lib/results/document.js';
import { interposerLibrary } from '../../../lib/native/load.js';
import { type MeasureFunction, measure } from '../../native/child.js';
import { undisturbed } from '../../undisturbed.js';

/** Far longer than what the layer itself does in a call. A large block comes after work that empties the caches. */
const callUs = (name: MeasureFunction): number => (name === 'measureLargeTensorAllocation' ? 500 : 30);

async function under(interpose: string | null, name: MeasureFunction, iterations: number): Promise<MetricResult> {
  const us = callUs(name);
  const sim = { init_ms: 1, context_ms: 1, alloc_us: us, vmm_us: us, alloc_async_us: us, free_us: 5 };
  const layer = { LD_PRELOAD: interposerLibrary() ?? '', GVB_INTERPOSE: interpose ?? '' };
  const options = { sim, environment: interpose === null ? {} : layer };
  const [result] = await measure([[name, { seed: 1, iterations }]], options);
  return result as MetricResult;
}

function expectRefused(result: MetricResult, reason: RegExp): void {
  expect(result).toMatchObject({ status: 'invalid', value: null });
  expect(result.reason).toMatch(reason);
}

const VIRTUAL = 'ahead=40,aheadpaths=cuMemCreate';
const ALONE = 'cuMemCreate alone';
describe('calls that a few others pay for', () => {
  it.each([
    ['OH-002', 'measureMemoryAllocation', 100, 'ahead=40', 'cuMemAlloc of [^:]*'],
    ['OH-002, virtual memory', 'measureMemoryAllocation', 100, VIRTUAL, `cuMemCreate of 2 MiB, ${ALONE}`],
    [
      'OH-002, the pool',
      'measureMemoryAllocation',
      100,
      'ahead=40,aheadpaths=cuMemAllocAsync',
      'cuMemAllocAsync of 2 MiB',
    ],
    ['OH-007', 'measureMemoryTracking', 100, 'ahead=40', 'cuMemAlloc of 64 KiB'],
    [
      'FRAG-002',
      'measureAllocationLatencyDegradation',
      60,
      'ahead=16@16MiB',
      '(contiguous|fragmented).*, cuMemAlloc of 16 MiB',
    ],
    ['LLM-002, virtual memory', 'measureKvCacheAllocation', 3, VIRTUAL, `a page by cuMemCreate, ${ALONE}`],
    [
      'LLM-002, the pool',
      'measureKvCacheAllocation',
      3,
      'ahead=40,aheadpaths=cuMemAllocAsync',
      'a page by cuMemAllocAsync',
    ],
    ['LLM-005', 'measureMemoryPool', 200, 'ahead=40@1MiB,aheadpaths=cuMemAllocAsync', 'cuMemAllocAsync of 1 MiB'],
    [
      'LLM-005, by the name of the pool',
      'measureMemoryPool',
      200,
      'ahead=40,aheadpaths=cuMemAllocFromPoolAsync',
      'cuMemAllocFromPoolAsync of [^:]*',
    ],
    ['LLM-007', 'measureLargeTensorAllocation', 6, 'ahead=3@8GiB', 'cuMemAlloc of 8 GiB'],
    [
      'LLM-007, virtual memory',
      'measureLargeTensorAllocation',
      6,
      'ahead=3@4GiB,aheadpaths=cuMemCreate',
      `cuMemCreate of 4 GiB, ${ALONE}`,
    ],
  ] as const)('%s', async (_, name, iterations, interpose, call) => {
    const reason = new RegExp(`most calls are answered without the driver, and a few pay for all: ${call}: median`);
    expectRefused(await under(interpose, name, iterations), reason);
  });
});

describe('calls that were paid before', () => {
  it.each([
    ['OH-002', 'measureMemoryAllocation', 100, 'ahead=4000@2MiB', 'cuMemAlloc of 2 MiB'],
    ['OH-007', 'measureMemoryTracking', 50, 'ahead=60000@64KiB', 'cuMemAlloc of 64 KiB'],
    [
      'FRAG-002',
      'measureAllocationLatencyDegradation',
      20,
      'ahead=80@64MiB',
      '(contiguous|fragmented).*, cuMemAlloc of 64 MiB',
    ],
    ['LLM-002', 'measureKvCacheAllocation', 3, 'ahead=4000,aheadpaths=cuMemCreate', 'a page by cuMemCreate'],
    ['LLM-005', 'measureMemoryPool', 50, 'ahead=20@64MiB,aheadpaths=cuMemAllocAsync', 'cuMemAlloc.*Async of .*'],
  ] as const)('%s', async (_, name, iterations, interpose, call) => {
    const reason = new RegExp(
      `allocations are answered from memory that was taken before: ${call}: the memory of this process grew by`,
    );
    expectRefused(await under(interpose, name, iterations), reason);
  });
});

const SERVED = 'every call is served by the driver';
const GROWN = 'allocations take memory of the GPU';
const DELAYS = ['cuMemAlloc_v2', 'cuMemFree_v2', 'cuMemCreate', 'cuMemMap', 'cuMemAllocAsync', 'cuMemFreeAsync'];
describe('calls that the driver serves', () => {
  it.each([
    ['OH-002', 'measureMemoryAllocation', 50, [SERVED, GROWN]],
    ['OH-003', 'measureMemoryFree', 20, [SERVED]],
    ['OH-007', 'measureMemoryTracking', 20, [SERVED, GROWN]],
    ['FRAG-002', 'measureAllocationLatencyDegradation', 20, [SERVED, GROWN]],
    ['LLM-002', 'measureKvCacheAllocation', 3, [SERVED, GROWN]],
    ['LLM-005', 'measureMemoryPool', 50, [SERVED, GROWN]],
    ['LLM-007', 'measureLargeTensorAllocation', 3, [SERVED]],
  ] as const)('%s', async (_, name, iterations, checks) => {
    for (const interpose of [null, DELAYS.map((call) => `${call}=+90us`).join()]) {
      const [result] = await undisturbed(
        async () => [await under(interpose, name, iterations)],
        (results) => results,
      );
      expect(result?.status).toBe(name === 'measureMemoryPool' ? 'unsupported' : 'ok');
      for (const check of checks)
        expect(result?.checks).toContainEqual(expect.objectContaining({ name: check, passed: true }));
    }
  });
});
