/** OH-010 has no number if a unit fails, and no effect without native. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import * as bench from '../../lib/index.js';
import { measure } from './child.js';

beforeAll(() => {
  vi.stubEnv('GVB_SIM', `region=throughput-${randomUUID().slice(0, 8)},init_ms=1,context_ms=1`);
});
afterAll(() => vi.unstubAllEnvs());

describe('OH-010', () => {
  it('is failed, never fast, if a unit fails', async () => {
    const [result] = await measure([['measureThroughput']], {
      sim: { init_ms: 1, context_ms: 1, fail: 'cuMemFree_v2:700@20' },
    });
    expect(result).toMatchObject({ status: 'failed', value: null });
    expect(result?.reason).toMatch(/^cuMemFree_v2 returned CUDA_ERROR_ILLEGAL_ADDRESS \(700\)/);
  });

  it('has no effect against a baseline that is not native', async () => {
    const { effects, systems } = await bench.compareSystems({
      metrics: ['OH-010'],
      systems: ['custom:name=a', 'custom:name=b'],
      rounds: 1,
      tier: 'quick',
      simulate: true,
    });
    expect(systems.flat().map(({ metrics }) => metrics[0]?.status)).toEqual(['unsupported', 'unsupported']);
    expect(effects).toEqual([]);
  });
});
