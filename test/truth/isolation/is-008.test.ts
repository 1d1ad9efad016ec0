/** IS-008 on the simulated card: equal quotas that give unequal parts. */
import { describe, expect, it } from 'vitest';
import { BIN_MS } from '../../../lib/metrics/isolation/shared/co-tenants.js';
import { fairnessBy } from '../../../lib/metrics/isolation/is-008-fairness.js';
import { measureMetric } from '../../../lib/metrics/core/measure.js';
import { FIRST_ID } from '../../../lib/metrics/tenants/scene.js';
import { jain } from '../../../lib/stats/jain.js';
import { median } from '../../../lib/stats/median.js';
import { metricNamed } from '../../metric-named.js';
import { undisturbed, undisturbedRecord } from '../../undisturbed.js';
import { busyIn, byDevice, commonBins, lasted, loadsOf, percentages, staggered } from './shares.js';

/** The shares of 128 multiprocessors: 64, 32, 16 and 16. */
const PERCENT = [50, 25, 12.5, 12.5];
/** (1/2 + 1/4 + 1/8 + 1/8)² / 4 (1/4 + 1/16 + 1/64 + 1/64) */
const JAIN = 8 / 11;

describe('IS-008', () => {
  it('finds unequal parts with a known index', async () => {
    const measure = fairnessBy({ skipMs: 100, windowMs: 700 });
    const definition = { ...metricNamed('IS-008'), measure };
    const { result, record } = await undisturbedRecord((folder) => {
      const system = staggered(percentages(({ id }) => PERCENT[id - FIRST_ID] as number, '', folder));
      return measureMetric(definition, { simulate: true, seed: 1 }, { system });
    });
    expect(result).toMatchObject({ status: 'ok', processes: 4 });
    const [whole, ...tenants] = loadsOf(record).map((blocks) => blocks.at(-1) ?? []);
    const kernelNs = (load: readonly { begins: number; ends: number }[]) => median(load.map(lasted)).value;
    // The parts add up to the whole card, so no tenant slows another one down.
    const speeds = tenants.map((load) => kernelNs(whole ?? []) / kernelNs(load));
    expect(jain(speeds.map((speed, i) => speed * (PERCENT[i] as number)))).toBeCloseTo(JAIN, 3);
    const loads = tenants.map(byDevice);
    const [first, to] = commonBins(loads, BIN_MS * 1e6);
    const from = first + 100e6;
    const recorded = jain(loads.map((load, i) => busyIn(load, from, to) * (PERCENT[i] as number)));
    expect(Math.abs((result.value as number) - (recorded as number))).toBeLessThan(0.02);
  });

  it('measures other numbers of tenants, and unequal quotas, from tier standard on', async () => {
    const measure = fairnessBy({ skipMs: 0, windowMs: 600 });
    const system = staggered(percentages(({ limits }) => limits?.smPercent as number));
    const options = { simulate: true, seed: 1, tier: 'standard' } as const;
    const result = await undisturbed(
      () => measureMetric({ ...metricNamed('IS-008'), measure }, options, { system }),
      (measured) => [measured],
    );
    const rows = result.details.rows as { case: string; tenants: number; jain: number }[];
    expect(rows.map((row) => [row.case, row.tenants])).toEqual([
      ['2 equal', 2],
      ['4 equal', 4],
      ['8 equal', 8],
      ['weighted 60/20/20', 3],
    ]);
    expect(result).toMatchObject({ status: 'ok', value: rows[1]?.jain });
    // Each tenant has its own part of the multiprocessors: 60/20/20 is as fair as equal parts are.
    for (const row of rows) expect(row.jain).toBeGreaterThan(0.9);
  });
});
