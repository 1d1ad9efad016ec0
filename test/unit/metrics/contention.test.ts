/** PCIE-003 and FRAG: numbers computed from given windows and states. */
import { describe, expect, it } from 'vitest';
import { slowdown, steadyCheck } from '../../../lib/metrics/fragmentation/frag-002-allocation-degradation.js';
import { driftPer } from '../../../lib/metrics/fragmentation/frag-003-reclaim.js';
import { agreementCheck, indexOf } from '../../../lib/metrics/fragmentation/frag-001-fragmentation-index.js';
import { curveOf, impactOf } from '../../../lib/metrics/pcie/pcie-003-contention.js';
import { GIB } from '../../../lib/metrics/core/units.js';

it('the impact is that on the tenant which lost most, over all windows', () => {
  const row = {
    direction: 'to the device' as const,
    tenants: 2,
    aloneGbs: [50],
    together: [
      [30, 20],
      [20, 10],
    ],
  };
  const impact = impactOf(row);
  expect(impact).toMatchObject({ gbs: [25, 15], aggregateGbs: 40, aggregateOverAlone: 0.8 });
  expect(impact.impactPercent).toBeCloseTo(70, 9);
  expect(impact.excessPoints).toBeCloseTo(20, 9);
});

it('a tenant that gains beside others has a negative impact', () => {
  const row = { direction: 'to the host' as const, tenants: 2, aloneGbs: [10], together: [[11, 12]] };
  expect(impactOf(row).impactPercent).toBeCloseTo(-10, 9);
});

it('mixed directions are each compared with a tenant alone in that direction', () => {
  const row = { direction: 'mixed' as const, tenants: 4, aloneGbs: [40, 20], together: [[20, 5, 30, 20]] };
  const impact = impactOf(row);
  expect(impact.impactPercent).toBeCloseTo(75, 9);
  expect(impact.excessPoints).toBeNull();
});

it('the curve has one tenant alone and several, of each direction that is not mixed', () => {
  const rows = [
    { direction: 'to the device' as const, tenants: 4, aloneGbs: [52], together: [[13, 12, 14, 11]] },
    { direction: 'to the device' as const, tenants: 2, aloneGbs: [48], together: [[26, 24]] },
    { direction: 'mixed' as const, tenants: 4, aloneGbs: [40, 20], together: [[20, 5, 30, 20]] },
  ];
  expect(curveOf(rows.map(impactOf))).toEqual([
    { direction: 'to the device', tenants: 1, aggregateGbs: 50, leastGbs: 50 },
    { direction: 'to the device', tenants: 2, aggregateGbs: 50, leastGbs: 24 },
    { direction: 'to the device', tenants: 4, aggregateGbs: 50, leastGbs: 11 },
  ]);
});

it('the index of fragmentation is signed', () => {
  expect(indexOf(25, 100)).toBe(75);
  expect(indexOf(101, 100)).toBeCloseTo(-1, 9);
});

it('drift is what is said to be lost and is not held, per 100 000 calls', () => {
  expect(driftPer(-3_000, 1_000, 50_000)).toBe(4_000);
  expect(driftPer(500, 0, 100_000)).toBe(-500);
  expect(driftPer(null, 0, 1)).toBeNull();
  expect(driftPer(0, null, 1)).toBeNull();
  expect(driftPer(0, 0, 0)).toBeNull();
});

it('an allocator that changed by half is not steady', () => {
  expect(steadyCheck(1_000, 1_499).passed).toBe(true);
  expect(steadyCheck(1_000, 1_501).passed).toBe(false);
  expect(steadyCheck(1_000, 499).passed).toBe(false);
});

describe('slower beside fragments', () => {
  const estimate = (value: number, ci95: [number, number] | null) => ({ value, ci95 });
  const before = estimate(50, [49, 51]);
  const after = estimate(60, [58, 62]);

  it('is relative to both contiguous states, and the interval covers each of them', () => {
    const { reference, value, ci95 } = slowdown(estimate(110, [106, 116]), [before, after]);
    expect(reference).toBe(55);
    expect(value).toBe(2);
    expect(ci95).toEqual([106 / 62, 116 / 49]);
  });

  it('has no interval where a state has none', () => {
    expect(slowdown(estimate(110, null), [before, after]).ci95).toBeNull();
    expect(slowdown(estimate(110, [106, 116]), [before, estimate(60, null)]).ci95).toBeNull();
  });
});

describe('reported free memory beside NVML', () => {
  const LIMIT = 60 * GIB;
  const accounts = (told: number, held: number, blocks = 0) => [{ path: 'cuMemAlloc_v2', told, held, blocks }];

  it('may count requests in place of granules, at most one for each block', () => {
    expect(agreementCheck(accounts(26.75 * GIB, 28.81 * GIB, 2_937), LIMIT).passed).toBe(true);
    expect(agreementCheck(accounts(26.75 * GIB, 28.81 * GIB, 100), LIMIT).passed).toBe(false);
    // Nobody counts more than is held.
    expect(agreementCheck(accounts(28.81 * GIB, 26.75 * GIB, 2_937), LIMIT).passed).toBe(false);
  });

  it('is not checked where no process looks from outside', () => {
    expect(agreementCheck([], LIMIT).passed).toBe('not checked');
  });
});
