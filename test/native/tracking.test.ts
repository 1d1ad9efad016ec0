/** OH-007 with a failing pair, and on a card that is too small. */
import { describe, expect, it } from 'vitest';
import type { MetricResult } from '../../lib/results/document.js';
import { measure, type Settings } from './child.js';

const sim = { init_ms: 1, context_ms: 1, alloc_us: 5, free_us: 5 };

async function tracked(more: Settings) {
  const [result] = await measure([['measureMemoryTracking']], { sim: { ...sim, ...more } });
  return result as MetricResult;
}

describe('OH-007', () => {
  it.each(['cuMemAlloc_v2', 'cuMemFree_v2'])('fails with the code of %s', async (call) => {
    const result = await tracked({ fail: `${call}:2@300` });
    expect(result).toMatchObject({ status: 'failed', value: null, reason: expect.stringMatching(`^${call} returned`) });
  });

  it('is unsupported on a card too small for 4 096 blocks', async () => {
    const result = await tracked({ memory_mib: 100, context_mib: 10 });
    expect(result).toMatchObject({ status: 'unsupported', value: null, reason: expect.stringMatching(/^4096 blocks/) });
  });
});
