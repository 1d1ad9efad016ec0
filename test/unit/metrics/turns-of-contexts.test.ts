/** SCHED-001's turns and SCHED-004's met kernels, from known times. */
import { describe, expect, it } from 'vitest';
import { residentAt } from '../../../lib/metrics/scheduling/resident.js';
import { sliceDistribution, turnsOf } from '../../../lib/metrics/scheduling/turns-of-contexts.js';
import type { BlockTrace } from '../../../lib/native/addon-types.js';

/** A trace; times in us. */
function trace(stretches: readonly (readonly [number, number])[], originMs = 0): BlockTrace {
  return {
    originMs,
    multiprocessor: stretches.map(() => 0),
    fromNs: stretches.map(([from]) => from * 1e3),
    toNs: stretches.map(([, to]) => to * 1e3),
    blocks: 1,
  };
}

describe('turns of two contexts', () => {
  it('are told apart by their switches, with the share and the slices of both', () => {
    const first = [0, 2_200, 4_400].map((from) => [from, from + 1_000] as const);
    const second = [1_100, 3_300, 5_500].map((from) => [from, from + 1_000] as const);
    const turns = turnsOf([trace(first), trace(second)]);
    // The span is from 1.1 ms, when the second one began, to 5.4 ms, when the first one ended.
    expect(turns).toMatchObject({ spanMs: 4.3, atOncePercent: 0, idlePauses: 0, tickNs: 100_000 });
    expect(turns?.switchUs).toEqual([100, 100, 100]);
    expect(turns?.sliceMs).toEqual([1, 1]);
    expect(turns?.sharePercent.map((percent) => Math.round(percent))).toEqual([47, 47]);
  });

  it('are counted from the origin of each trace', () => {
    const first = [0, 2_000].map((from) => [from, from + 1_000] as const);
    const second = [2_000, 4_000].map((from) => [from, from + 1_000] as const);
    const turns = turnsOf([trace(first, 5), trace(second, 4)]);
    expect(turns).toMatchObject({ switchUs: [0], spanMs: 2 });
  });

  it('show two that run at once, and two of which one was never there', () => {
    expect(turnsOf([trace([[0, 4_000]]), trace([[1_000, 3_000]])])?.atOncePercent).toBe(100);
    expect(turnsOf([trace([[0, 1_000]]), trace([[2_000, 3_000]])])).toBeNull();
    expect(turnsOf([trace([]), trace([[2_000, 3_000]])])).toBeNull();
  });

  it('have no share at once where the clock shows no time of one of them', () => {
    const moments = [1_000, 3_000].map((at) => [at, at] as const);
    expect(turnsOf([trace([[0, 4_000]]), trace(moments)])).toMatchObject({ atOncePercent: null, spanMs: 2 });
  });

  it('have a distribution from the shortest to the longest', () => {
    const points = sliceDistribution([3, 1, 2]);
    expect(points[0]).toEqual({ percent: 0, ms: 1 });
    expect(points.find(({ percent }) => percent === 50)).toEqual({ percent: 50, ms: 2 });
    expect(points.at(-1)).toEqual({ percent: 100, ms: 3 });
    expect(sliceDistribution([])).toEqual([]);
  });
});

describe('launches that met a kernel of another process', () => {
  it('lie between its begin and its end, by the clock of both', () => {
    const kernelsListed = { atNs: [0, 5e6], tookNs: [2e6, 1e6] };
    const called = [0.5e6, 1.9e6, 3e6, 4.95e6, 5.5e6, 7e6].map((ns) => ns + 3e6);
    const load = { firstBin: 1_000_003, kernelsListed };
    expect(residentAt({ originMs: 1_000_000, calledNs: called }, load, 1e6)).toEqual([
      true,
      true,
      false,
      true,
      true,
      false,
    ]);
  });
});
