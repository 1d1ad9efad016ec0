/** OH-007 recovers what live blocks cost: nothing on the bare simulated GPU, what the interposer adds under it. */
import { describe, expect, it } from 'vitest';
import { interposerLibrary } from '../../../lib/native/load.js';
import type { MetricResult } from '../../../lib/document.js';
import { measure, type Settings } from '../../native/child.js';
import { type Estimate, expectRecovered, type Truth } from '../../native/recovered.js';

const sim = { init_ms: 1, context_ms: 1, alloc_us: 5, free_us: 3 };
const LEVEL_NS = 1e3 * (sim.alloc_us + sim.free_us);
/** Two timed calls, and what the caller and the interposer's account add to each. */
const LEVEL = { tolerance: 600, resolution: 300 };
const PER_LIVE = { tolerance: 0.15, resolution: 0.1 };

interface Fit {
  call: string;
  valueNs: number;
  slopeNsPerBlock: number;
  slopeCi95: [number, number];
  residualCv: number;
}

async function tracked(environment: NodeJS.ProcessEnv = {}, more: Settings = {}, options: object = {}) {
  const [result] = await measure([['measureMemoryTracking', options]], { sim: { ...sim, ...more }, environment });
  return result as MetricResult;
}

const callsOf = ({ details }: MetricResult) => details.calls as Fit[];
const slopeOf = (fit: Pick<Fit, 'slopeNsPerBlock' | 'slopeCi95'>): Estimate => ({
  value: fit.slopeNsPerBlock,
  ci95: fit.slopeCi95,
});
const lineOf = ({ details }: MetricResult) => slopeOf(details as unknown as Fit);

describe('OH-007', () => {
  it('recovers alloc_us + free_us, and no slope, without a layer', async () => {
    const result = await tracked();
    expect(result.status).toBe('ok');
    expectRecovered([
      ['level', result, { truth: LEVEL_NS, ...LEVEL }],
      ['slope', lineOf(result), { truth: 0, ...PER_LIVE }],
    ]);
    const cells = result.details.cells as { live: number; count: number }[];
    expect(cells.map(({ live, count }) => [live, count])).toEqual([0, 256, 1_024, 4_096].map((live) => [live, 200]));
  });

  it('recovers 5 ns for each live block, in the calls that take them', async () => {
    const environment = { LD_PRELOAD: interposerLibrary() ?? '', GVB_INTERPOSE: 'perlive=5ns' };
    const result = await tracked(environment, {}, { tier: 'standard' });
    const truths: Record<string, Truth> = {
      cuMemAlloc: { truth: 0, ...PER_LIVE },
      cuMemFree: { truth: 5, ...PER_LIVE },
      // The simulation itself looks blocks up in a tree: 0.03 to 0.1 ns for each.
      cuPointerGetAttribute: { truth: 5, tolerance: 0.4, resolution: 0.1 },
    };
    expectRecovered([
      // The block that a pair allocates is live when one is freed.
      ['level', result, { truth: LEVEL_NS + 5 * 1_025, ...LEVEL, tolerance: 800 }],
      ['slope', lineOf(result), { truth: 5, ...PER_LIVE }],
      ...callsOf(result).map((fit) => [fit.call, slopeOf(fit), truths[fit.call] as Truth] as const),
    ]);
    expect(callsOf(result).map(({ call }) => call)).toEqual(Object.keys(truths));
    expect((result.details.cells as unknown[]).length).toBe(5);
  });

  it('measures pairs where cuPointerGetAttribute fails, and says so', async () => {
    const result = await tracked({}, { fail: 'cuPointerGetAttribute:801@1' }, { iterations: 20 });
    expect(result.status).toBe('ok');
    expect(callsOf(result)[2]).toEqual({
      call: 'cuPointerGetAttribute',
      failed: expect.stringMatching(/^cuPointerGetAttribute returned CUDA_ERROR_NOT_SUPPORTED/),
    });
  });
});
