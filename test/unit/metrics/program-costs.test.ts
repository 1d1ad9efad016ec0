/** A program's cost, with sums computed by hand. */
import { describe, expect, it } from 'vitest';
import { profilePrices } from '../../../lib/metrics/overhead/oh-005-profiles.js';
import { programCosts, withoutPrices } from '../../../lib/metrics/core/program-costs.js';
import type { MetricResult, RunDocument } from '../../../lib/results/document.js';
import { callProfile, phase } from '../profile-fixtures.js';
import { result, runDocument } from '../run/fixtures.js';

const row = (name: string, overheadNs: number, change: object = {}) => ({
  ...{ name, owner: '/opt/layer.so', intercepted: true, overheadNs, bareNs: 100 },
  ci95: [overheadNs - 1, overheadNs + 2],
  ...change,
});
const functions = (...rows: object[]) => result('OH-005', { details: { functions: rows } });
const launches = (overheadNs: number) =>
  result('OH-001', { details: { pair: { call: 'cuLaunchKernel', intercepted: true, overheadNs, bareNs: 4_000 } } });

const round = (name: string, metrics: MetricResult[], change: Partial<RunDocument> = {}): RunDocument =>
  runDocument({ system: { name, kind: name, settings: {}, attestation: [] }, metrics, ...change });

const costs = (calls: Record<string, number>, ...metrics: MetricResult[][]) =>
  programCosts(callProfile(phase(calls)), [metrics.map((each) => round('layer', each))])[0];

describe('the cost of a program', () => {
  it('is the sum over its calls in every round, with the interval over rounds', () => {
    // 10 steps of 200 ms. Rounds: 4 × 1000 + 0.5 × 200 = 4100 ns, 4 × 1010 + 0.5 × 180 = 4130 ns, 4 × 990 + 0.5 × 220.
    const cost = costs(
      { cuMemGetInfo_v2: 40, cuCtxGetCurrent: 5 },
      [functions(row('cuMemGetInfo_v2', 1_000), row('cuCtxGetCurrent', 200))],
      [functions(row('cuMemGetInfo_v2', 1_010), row('cuCtxGetCurrent', 180))],
      [functions(row('cuMemGetInfo_v2', 990), row('cuCtxGetCurrent', 220))],
    );
    expect(cost).toMatchObject({
      ...{ system: 'layer', profile: 'decode', phase: 'all', steps: 10, rounds: 3, missing: [] },
      ...{ stepUs: 200_000, callsPerStep: 4.5 },
    });
    expect(cost?.taxUs).toBeCloseTo(4.1, 9);
    // sd of 4.10, 4.13, 4.07 is 0.03; t(0.975, 2) = 4.302653.
    const half = (4.302653 * 0.03) / Math.sqrt(3);
    expect(cost?.ci95?.[0]).toBeCloseTo(4.1 - half, 6);
    expect(cost?.ci95?.[1]).toBeCloseTo(4.1 + half, 6);
    expect(cost?.percent).toBeCloseTo((100 * 4.1) / 200_000, 12);
    expect(cost?.percentCi95?.[1]).toBeCloseTo((100 * (4.1 + half)) / 200_000, 9);
    expect(cost?.calls.map(({ call, metric, callsPerStep }) => [call, metric, callsPerStep])).toEqual([
      ['cuMemGetInfo_v2', 'OH-005', 4],
      ['cuCtxGetCurrent', 'OH-005', 0.5],
    ]);
    expect(cost?.calls.map(({ taxUs }) => taxUs)).toEqual([4, 0.1]);
  });

  it('has an interval over the sums of rounds, in which common disturbances of prices remain or cancel', () => {
    const same = (both: number) => [functions(row('cuInit', 100 + both), row('cuCtxGetId', 100 + both))];
    const against = (one: number) => [functions(row('cuInit', 100 + one), row('cuCtxGetId', 100 - one))];
    const calls = { cuInit: 1, cuCtxGetId: 1 };
    const width = (cost: ReturnType<typeof costs>) => (cost?.ci95?.[1] ?? NaN) - (cost?.ci95?.[0] ?? NaN);
    expect(width(costs(calls, same(-5), same(5)))).toBeGreaterThan(0.01);
    expect(width(costs(calls, against(-5), against(5)))).toBeCloseTo(0, 12);
  });

  it('has no interval from one round, and is zero if the program gets the driver’s own function', () => {
    const own = row('cuInit', 3.5, { intercepted: false });
    expect(costs({ cuInit: 7 }, [functions(own)])).toMatchObject({ taxUs: 0, ci95: null, percentCi95: null });
  });

  it('prefers the price of a single call to that of calls in a loop', () => {
    const cost = costs({ cuLaunchKernel: 10 }, [launches(300), functions(row('cuLaunchKernel', 100))]);
    expect(cost).toMatchObject({ taxUs: 0.3, calls: [{ call: 'cuLaunchKernel', metric: 'OH-001', priceNs: 300 }] });
    const lost = costs(
      { cuLaunchKernel: 10 },
      [launches(300), functions(row('cuLaunchKernel', 100))],
      [functions(row('cuLaunchKernel', 100))],
    );
    expect(lost).toMatchObject({ taxUs: 0.1, calls: [{ metric: 'OH-005' }] });
  });

  it('uses a price for certain arguments if there is no other, and names them', () => {
    const pair = { call: 'cuMemAlloc_v2 of 2 MiB, 16 live', intercepted: true, overheadNs: 700, bareNs: 900 };
    const certain = result('OH-001', { details: { pair } });
    const cost = costs({ cuMemAlloc_v2: 20 }, [certain, functions(row('cuInit', 1))]);
    expect(cost?.calls).toEqual([
      { call: 'cuMemAlloc_v2', metric: 'OH-001', as: pair.call, callsPerStep: 2, priceNs: 700, taxUs: 1.4 },
    ]);
    const any = costs({ cuMemAlloc_v2: 20 }, [certain, functions(row('cuMemAlloc_v2', 5))]);
    expect(any?.calls).toMatchObject([{ metric: 'OH-005', priceNs: 5 }]);
    expect(any?.calls[0]).not.toHaveProperty('as');
  });

  it('does not count a call without a price as free', () => {
    const cost = costs(
      { cuInit: 10, cuFoo: 30, cuLaunchKernel_ptsz: 20, cuCtxGetId: 1 },
      [functions(row('cuInit', 100), row('cuLaunchKernel', 5), row('cuCtxGetId', 5))],
      [functions(row('cuInit', 100), row('cuLaunchKernel', 5))],
    );
    expect(cost?.taxUs).toBeCloseTo(0.1, 9);
    expect(cost?.calls.map(({ call }) => call)).toEqual(['cuInit']);
    expect(cost?.missing).toEqual([
      { call: 'cuFoo', callsPerStep: 3, reason: 'not measured' },
      {
        call: 'cuLaunchKernel_ptsz',
        callsPerStep: 2,
        reason: 'not measured; cuLaunchKernel is, which a layer may treat otherwise',
      },
      { call: 'cuCtxGetId', callsPerStep: 0.1, reason: 'measured in 1 of 2 rounds' },
    ]);
    expect(costs({ cuFoo: 1 }, [functions(row('cuInit', 1))])).toMatchObject({
      taxUs: null,
      ci95: null,
      percent: null,
    });
  });

  it('has no price for a function whose code in the driver is patched, because both pointers of a pair lead through the patch', () => {
    const paths = { runtime: '/l', dlsym: '/l', linked: '/l', bare: '/l' };
    const provenance = [{ name: 'cuInit', paths, interposed: [], patched: { bytes: 'ff', owner: '/opt/layer.so' } }];
    const patched = round('layer', [functions(row('cuInit', 0, { intercepted: false }))], { provenance });
    const [cost] = programCosts(callProfile(phase({ cuInit: 1 })), [[patched]]);
    expect(cost).toMatchObject({
      taxUs: null,
      missing: [{ call: 'cuInit', reason: expect.stringMatching(/patched/) }],
    });
  });

  it('covers every system and phase; rounds without measurements do not count', () => {
    const profile = callProfile(
      phase({ cuInit: 10 }),
      phase({ cuInit: 40 }, { name: 'train', steps: null, seconds: 0 }),
    );
    const failed = result('OH-005', { status: 'invalid', value: null, details: {} });
    const found = programCosts(profile, [
      [round('native', [functions(row('cuInit', 1))]), undefined],
      [round('layer', [failed]), round('layer', [functions(row('cuInit', 50))])],
      [undefined],
    ]);
    expect(found.map(({ system, phase: name, steps, taxUs, rounds }) => [system, name, steps, taxUs, rounds])).toEqual([
      ['native', 'all', 10, 0.001, 1],
      ['native', 'train', null, 0.04, 1],
      ['layer', 'all', 10, 0.05, 1],
      ['layer', 'train', null, 2, 1],
    ]);
    // A phase without duration has no percentage.
    expect(found[3]).toMatchObject({ stepUs: 0, percent: null });
  });
});

describe('OH-005', () => {
  const details = {
    functions: [row('cuInit', 100), row('cuCtxGetId', 50), row('cuEventQuery', 4, { intercepted: false })],
  };

  it('prices a step by its own functions, with independent errors added as squares', () => {
    const profile = callProfile(phase({ cuInit: 30, cuCtxGetId: 40, cuEventQuery: 10, cuFoo: 20 }));
    const [price] = profilePrices(details, profile);
    // 3 × 100 + 4 × 50 ns; ends at hypot(3 × 1, 4 × 1) and hypot(3 × 2, 4 × 2) ns.
    expect(price).toEqual({
      name: 'decode',
      callsPerStep: 10,
      taxUs: 0.5,
      ci95: [0.495, 0.51],
      missing: [{ call: 'cuFoo', callsPerStep: 2 }],
    });
  });

  it('has one entry per phase, and no interval if a function has none', () => {
    const profile = callProfile(phase({ cuInit: 10 }), phase({ cuFoo: 1 }, { name: 'train' }));
    const wide = { functions: [row('cuInit', 100, { ci95: null })] };
    expect(profilePrices(wide, profile)).toMatchObject([
      { name: 'decode: all', taxUs: 0.1, ci95: null },
      { name: 'decode: train', taxUs: null, ci95: null, missing: [{ call: 'cuFoo' }] },
    ]);
    expect(profilePrices({ functions: 'none' }, profile)[0]?.taxUs).toBeNull();
  });

  it('is required for prices', () => {
    expect(withoutPrices(['OH-001'])).toMatch(/OH-005/);
    expect(withoutPrices(['OH-001', 'OH-005'])).toBeNull();
  });
});
