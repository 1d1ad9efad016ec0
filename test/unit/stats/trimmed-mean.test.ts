import { describe, expect, it } from 'vitest';
import { trimmedMean } from '../../../lib/stats/trimmed-mean.js';
import { gaussian, upTo } from './fixtures.js';

describe('the trimmed mean', () => {
  it('is that of the middle six of ten', () => {
    const { value, ci95 } = trimmedMean([1_000, 3, 1, 2, 4, 5, 6, 7, 8, -900]);
    // 2 … 7 are left; winsorised 2 2 2 3 4 5 6 7 7 7: variance 42.5 / 9; t for 5 degrees of freedom is 2.5706.
    expect(value).toBe(4.5);
    const half = (2.5706 * Math.sqrt(42.5 / 9) * Math.sqrt(10)) / 6;
    expect(ci95?.[0]).toBeCloseTo(4.5 - half, 3);
    expect(ci95?.[1]).toBeCloseTo(4.5 + half, 3);
  });

  it('trims nothing with fewer than five', () => expect(trimmedMean([1, 2, 3, 10]).value).toBe(4));

  it('moves by a third of the step if two more of ten are at the upper of two levels', () => {
    const levels = (upper: number) => upTo(10).map((i) => (i <= upper ? 3 : 0));
    expect(trimmedMean(levels(4)).value).toBeCloseTo(1, 12);
    expect(trimmedMean(levels(6)).value).toBeCloseTo(2, 12);
  });

  it('has no interval for one value, and refuses an empty list', () => {
    expect(trimmedMean([7])).toEqual({ value: 7, ci95: null });
    expect(() => trimmedMean([])).toThrow(RangeError);
  });

  it('has an interval that covers the truth in 93 to 97 % of seeded runs', () => {
    let covered = 0;
    const runs = 2_000;
    for (let seed = 0; seed < runs; seed++) {
      const noise = gaussian(seed);
      const [low, high] = trimmedMean(upTo(10).map(() => 5 + noise())).ci95 as [number, number];
      if (low <= 5 && 5 <= high) covered++;
    }
    expect(covered / runs).toBeGreaterThanOrEqual(0.93);
    expect(covered / runs).toBeLessThanOrEqual(0.97);
  });
});
