import { describe, expect, it } from 'vitest';
import { median, relativeHalfWidth } from '../../../lib/stats/median.js';
import { seededRandom } from '../../../lib/stats/random.js';
import { upTo } from './fixtures.js';

describe('median', () => {
  it.each([
    [[3], 3],
    [[1, 2], 1.5],
    [[9, 1, 5], 5],
    [[4, 1, 3, 2], 2.5],
    [[-2, -1, 0.5], -1],
    [[10, 9, 2, 1, 100], 9],
  ])('of %j is %d', (samples, value) => expect(median(samples).value).toBe(value));

  it('refuses an empty list', () => {
    expect(() => median([])).toThrow(RangeError);
    expect(() => median([])).toThrow('Expected at least one sample but received none.');
  });

  it('sorts as numbers and does not change its input', () => {
    const samples = new Float64Array([10, 9, 200, 1]);
    expect(median(samples).value).toBe(9.5);
    expect([...samples]).toEqual([10, 9, 200, 1]);
  });

  // Ranks of the 95 % interval for a median: Conover, Practical Nonparametric Statistics; Altman et al., Statistics with
  // Confidence, table 18.4 (there from n = 6 on).
  it.each([
    [6, 1, 6],
    [7, 1, 7],
    [8, 1, 8],
    [9, 2, 8],
    [10, 2, 9],
    [11, 2, 10],
    [12, 3, 10],
    [15, 4, 12],
    [16, 4, 13],
    [20, 6, 15],
    [25, 8, 18],
    [30, 10, 21],
    [40, 14, 27],
    [50, 18, 33],
    [60, 22, 39],
    [70, 27, 44],
    [100, 40, 61],
  ])('of %i samples lies between ranks %i and %i with 95 %%', (n, low, high) =>
    expect(median(upTo(n)).ci95).toEqual([low, high]),
  );

  it.each([1, 2, 3, 4, 5])('of %i samples has no interval', (n) => expect(median(upTo(n)).ci95).toBeNull());

  it('has an interval for very many samples, near n/2 ± 0.98 √n', () => {
    const n = 100_000;
    const [low, high] = median(upTo(n)).ci95 as [number, number];
    expect(Math.abs(low - (n / 2 - 0.98 * Math.sqrt(n)))).toBeLessThan(2);
    expect(low + high).toBe(n + 1);
  });

  it.each([6, 10, 25, 100])('covers the truth in 95 to 99 %% of seeded rounds of %i skewed samples', (n) => {
    const random = seededRandom(n);
    const rounds = 4_000;
    let covered = 0;
    for (let round = 0; round < rounds; round++) {
      // Exponential samples, so that nothing relies on symmetry; their median is ln 2.
      const [low, high] = median(Array.from({ length: n }, () => -Math.log(1 - random()))).ci95 as [number, number];
      if (low <= Math.LN2 && Math.LN2 <= high) covered++;
    }
    // The interval is conservative: exactly 96.9, 97.9, 95.7 and 96.5 %.
    expect(covered / rounds).toBeGreaterThan(0.945);
    expect(covered / rounds).toBeLessThan(0.99);
  });
});

describe('relativeHalfWidth', () => {
  it.each([
    [{ value: 10, ci95: [9, 12] }, 0.15],
    [{ value: -10, ci95: [-12, -9] }, 0.15],
    [{ value: 5, ci95: [5, 5] }, 0],
    [{ value: 5, ci95: null }, Number.POSITIVE_INFINITY],
    [{ value: 0, ci95: [-1, 1] }, Number.POSITIVE_INFINITY],
  ] as const)('of %j is %d', (estimate, width) =>
    expect(relativeHalfWidth(estimate as Parameters<typeof relativeHalfWidth>[0])).toBeCloseTo(width, 12),
  );
});
