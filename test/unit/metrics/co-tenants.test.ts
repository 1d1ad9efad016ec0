/** Statistics of tenants beside each other, for work with known results. */
import { describe, expect, it } from 'vitest';
import { commonBins } from '../../../lib/metrics/isolation/shared/co-tenants.js';
import { steadinessOf } from '../../../lib/metrics/isolation/is-007-consistency.js';
import { jain } from '../../../lib/stats/jain.js';
import type { Load } from '../../../lib/native/addon-types.js';

const MS = 1e6;
const load = (firstBin: number, startedMs: number, endedMs: number, bins: number[]): Load =>
  ({ firstBin, startedNs: startedMs * MS, endedNs: endedMs * MS, bins }) as Partial<Load> as Load;

describe('bins in common', () => {
  it("lie entirely in the time of all, matched by the card's clock", () =>
    expect(commonBins([load(10, 5, 50, [1, 2, 3, 4, 5]), load(11, 0, 35, [20, 30, 40, 50])], 10)).toEqual({
      first: 1,
      work: [
        [2, 3, 4],
        [20, 30, 40],
      ],
    }));

  it('are zero if a working tenant got nothing', () =>
    expect(commonBins([load(0, 0, 30, [1, 0, 1]), load(0, 0, 30, [1, 1])], 10)?.work).toEqual([
      [1, 0, 1],
      [1, 1, 0],
    ]));

  it('are missing if there is no common time', () =>
    expect(commonBins([load(0, 0, 20, [1, 1]), load(5, 0, 20, [1, 1])], 10)).toBeNull());
});

describe('steadiness', () => {
  it('counts windows without work', () => {
    const { idleWindows, cv, lag1 } = steadinessOf([2, 0, 2, 0]);
    expect({ idleWindows, cv, lag1 }).toEqual({ idleWindows: 2, cv: Math.sqrt(4 / 3), lag1: -0.75 });
  });

  it('has no correlation and no variation if all windows are equal', () =>
    expect(steadinessOf([3, 3, 3])).toEqual({ windows: 3, idleWindows: 0, cv: 0, robustCv: 0, lag1: null }));
});

describe("Jain's index", () => {
  it.each([
    [[1, 1, 1, 1], 1],
    [[4, 0, 0, 0], 0.25],
    [[1, 1, 0, 0], 0.5],
    // Of these, the sums and their squares give 1.0000000000000002 and 1.0000000000000004, which no index can be.
    [[2.3, 2.3, 2.3, 2.3, 2.3], 1],
    [Array<number>(7).fill(0.7), 1],
  ])('of %j is %f', (parts, index) => expect(jain(parts)).toBe(index));

  it('is null if no tenant got anything', () => expect(jain([0, 0])).toBeNull());
});
