/** OH-010 on the simulated GPU: a slow-down of known size is recovered, and a loss exists only against a native arm. */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { MetricResult } from '../../../lib/document.js';
import type * as library from '../../../lib/index.js';
import { interposerLibrary } from '../../../lib/native/load.js';
import { measure } from '../../native/child.js';

interface Details {
  unitsPerSecond: number;
  rows: { limits: string; unitsPerSecond: number; unitMs: number; units: number }[];
}
const detailsOf = (result: MetricResult | undefined) => result?.details as unknown as Details;

let bench: typeof library;
beforeAll(async () => {
  // The built one: its workers are started from beside it.
  bench = (await import(fileURLToPath(new URL('../../../dist/index.js', import.meta.url)))) as typeof library;
  vi.stubEnv('GVB_SIM', `region=throughput-${randomUUID().slice(0, 8)},init_ms=1,context_ms=1`);
});
afterAll(() => vi.unstubAllEnvs());

/** A unit launches a GEMM, an attention and 64 small kernels. */
const LAUNCHES = 66;
const DELAY_US = 300;

describe('OH-010', () => {
  it('recovers what a known delay of every launch takes from the throughput', async () => {
    const slow = `custom:name=slow,env.LD_PRELOAD=${interposerLibrary()},env.GVB_INTERPOSE=cuLaunchKernel=+${DELAY_US}us`;
    const { effects, systems } = await bench.compareSystems({
      metrics: ['OH-010'],
      systems: ['native', slow],
      rounds: 2,
      tier: 'quick',
      simulate: true,
    });
    const unitMs = systems.map((rounds) =>
      rounds.map(({ metrics }) => detailsOf(metrics[0]).rows[0]?.unitMs as number),
    );
    const injectedMs = (LAUNCHES * DELAY_US) / 1e3;
    for (const round of [0, 1]) {
      const added = (unitMs[1]?.[round] as number) - (unitMs[0]?.[round] as number);
      // Processors that are shared with others stretch what is spun.
      expect(added).toBeGreaterThan(0.95 * injectedMs);
      expect(added).toBeLessThan(1.5 * injectedMs);
    }
    const lost = systems[1]?.map(({ metrics }, round) => {
      const native = detailsOf(systems[0]?.[round]?.metrics[0]).unitsPerSecond;
      return 100 * (1 - detailsOf(metrics[0]).unitsPerSecond / native);
    }) as [number, number];
    expect(effects).toHaveLength(1);
    expect(effects[0]).toMatchObject({ metric: 'OH-010', ratio: null, rounds: 2 });
    expect(effects[0]?.difference).toBeCloseTo((lost[0] + lost[1]) / 2, 6);
    expect(effects[0]?.difference).toBeGreaterThan(30);
  }, 120_000);

  it('is unsupported alone, with the units it did', async () => {
    const [result] = await measure([['measureThroughput']], { sim: { init_ms: 1, context_ms: 1 } });
    expect(result).toMatchObject({ status: 'unsupported', value: null, stats: null });
    expect(result?.reason).toMatch(/^needs a native arm/);
    const { unitsPerSecond, rows } = detailsOf(result);
    expect(rows).toEqual([expect.objectContaining({ limits: 'none', unitsPerSecond })]);
    expect(rows[0]?.units).toBeGreaterThan(3);
    expect(unitsPerSecond).toBeCloseTo(1e3 / (rows[0]?.unitMs as number), -2);
  }, 60_000);
});
