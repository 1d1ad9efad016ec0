/** OH-010 on the simulated GPU: a slow-down of known size is recovered, and a loss exists only against a native arm. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { MetricResult } from '../../../lib/document.js';
import * as bench from '../../../lib/index.js';
import { interposerLibrary } from '../../../lib/native/load.js';
import { type MedianEstimate, median } from '../../../lib/stats/median.js';
import { measure } from '../../native/child.js';
import { type Recorded, type RecordedCall, recordedByProcess } from '../../native/record.js';
import { ownRegion, temporaryFolder } from '../../temporary.js';

interface Details {
  unitsPerSecond: number;
  rows: { limits: string; unitsPerSecond: number; unitMs: number; units: number }[];
}
const detailsOf = (result: MetricResult | undefined) => result?.details as unknown as Details;

const settings = `region=${ownRegion('throughput')},init_ms=1,context_ms=1`;

beforeAll(() => {
  vi.stubEnv('GVB_SIM', settings);
});
afterAll(() => vi.unstubAllEnvs());

const DELAY_US = 300;

/**
 * The units of a process as its record has them, in ms: from the first factor's copy to the third result's, of those
 * between two clearings of the outputs. An audited unit reads more, and its time does not count.
 */
function unitsOf(recorded: Recorded): number[] {
  const units: RecordedCall[][] = [];
  for (const call of recorded.calls)
    if (call.name === 'cuMemcpyHtoD_v2') {
      if (units.at(-1)?.at(-1)?.name === 'cuMemcpyHtoD_v2') units.at(-1)?.push(call);
      else units.push([call]);
    } else if (/^cuMemcpyDtoH|^cuLaunchKernel$/.test(call.name)) units.at(-1)?.push(call);
  const whole = units.filter(
    (unit) =>
      unit.some(({ kernel }) => kernel === 'gvb_gemm') &&
      unit.filter(({ name }) => name === 'cuMemcpyDtoH_v2').length === 3,
  );
  return whole.map((unit) => ((unit.at(-1) as RecordedCall).left - (unit[0] as RecordedCall).entered) / 1e6);
}

describe('OH-010', () => {
  it('recovers what a known delay of every launch takes from the throughput', async () => {
    const record = temporaryFolder('record');
    vi.stubEnv('GVB_SIM', `${settings},record=${record}`);
    const layer = `env.LD_PRELOAD=${interposerLibrary()},env.GVB_INTERPOSE=cuLaunchKernel=+${DELAY_US}us`;
    const { effects, systems } = await bench.compareSystems({
      metrics: ['OH-010'],
      systems: ['native', `custom:name=slow,${layer}`],
      rounds: 2,
      tier: 'quick',
      simulate: true,
    });
    vi.stubEnv('GVB_SIM', settings);
    const unitMs = systems.flatMap((rounds) =>
      rounds.map(({ metrics }) => detailsOf(metrics[0]).rows[0]?.unitMs as number),
    );
    const working = recordedByProcess(record).filter((process) => unitsOf(process).length > 0);
    const recorded = working.map((process) => median(unitsOf(process)));
    expect(recorded).toHaveLength(4);
    // Each arm's units are those of one process; warm-up is in the record as well, which moves a median a little.
    const byTime = (a: number, b: number) => a - b;
    const inOrder = recorded.sort((a, b) => a.value - b.value);
    for (const [i, ms] of unitMs.sort(byTime).entries()) {
      const { value, ci95 } = inOrder[i] as MedianEstimate;
      expect(Math.abs(ms - value)).toBeLessThan(0.01 * value + 2 * ((ci95?.[1] ?? value) - (ci95?.[0] ?? value)));
    }
    const lost = systems[1]?.map(({ metrics }, round) => {
      const native = detailsOf(systems[0]?.[round]?.metrics[0]).unitsPerSecond;
      return 100 * (1 - detailsOf(metrics[0]).unitsPerSecond / native);
    }) as [number, number];
    expect(effects).toHaveLength(1);
    expect(effects[0]).toMatchObject({ metric: 'OH-010', ratio: null, rounds: 2 });
    expect(effects[0]?.difference).toBeCloseTo((lost[0] + lost[1]) / 2, 6);
    // More than half of a unit is the delay; what else the machine does is in both arms.
    expect(effects[0]?.difference).toBeGreaterThan(0);
  });

  it('is unsupported alone, with the units it did', async () => {
    const [result] = await measure([['measureThroughput']], { sim: { init_ms: 1, context_ms: 1 } });
    expect(result).toMatchObject({ status: 'unsupported', value: null, stats: null });
    expect(result?.reason).toMatch(/^needs a native arm/);
    const { unitsPerSecond, rows } = detailsOf(result);
    expect(rows).toEqual([expect.objectContaining({ limits: 'none', unitsPerSecond })]);
    expect(rows[0]?.units).toBeGreaterThan(3);
    expect(unitsPerSecond).toBeCloseTo(1e3 / (rows[0]?.unitMs as number), -2);
  });
});
