import { describe, expect, it } from 'vitest';
import { mean } from '../../../lib/stats/mean.js';
import { type Point, slope } from '../../../lib/stats/slope.js';

describe('slope', () => {
  it('is that of the line, without an interval if an x has one point', () =>
    expect(
      slope([
        [1, 5],
        [1, 7],
        [3, 12],
      ]),
    ).toEqual({ value: expect.closeTo(3, 12), ci95: null }));

  it('has the t interval of ordinary least squares', () => {
    // Calculated by hand: Sxx 4, residual sum of squares 4, df 2, t 4.3027.
    const points: Point[] = [
      [1, 4],
      [1, 6],
      [3, 10],
      [3, 12],
    ];
    const found = slope(points);
    const half = 4.302653 * Math.sqrt(4 / 2 / 4);
    expect(found?.value).toBeCloseTo(3, 12);
    expect(found?.ci95?.[0]).toBeCloseTo(3 - half, 5);
    expect(found?.ci95?.[1]).toBeCloseTo(3 + half, 5);
  });

  it('is null if all points have the same x', () =>
    expect(
      slope([
        [2, 1],
        [2, 3],
      ]),
    ).toBeNull());
});

describe('mean', () => {
  it('has the t interval', () => {
    const { value, ci95 } = mean([-1, 0, 1]);
    expect(value).toBe(0);
    expect(ci95?.[0]).toBeCloseTo(-4.302653 / Math.sqrt(3), 5);
    expect(ci95?.[1]).toBeCloseTo(4.302653 / Math.sqrt(3), 5);
  });
  it('of positive values has one above 0, as wide on logarithms', () => {
    const { value, ci95 } = mean([1, 2, 3]);
    expect(value).toBe(2);
    const reach = 4.302653 / Math.sqrt(3) / 2;
    expect(ci95?.[0]).toBeCloseTo(2 * Math.exp(-reach), 5);
    expect(ci95?.[1]).toBeCloseTo(2 * Math.exp(reach), 5);
  });
  it('of one value has no interval', () => expect(mean([4])).toEqual({ value: 4, ci95: null }));
  it('of no values is refused', () => expect(() => mean([])).toThrow(RangeError));
});
