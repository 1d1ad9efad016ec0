import { describe, expect, it } from 'vitest';
import { levelInterval } from '../../../lib/stats/mean.js';
import { quantile, rankedAt } from '../../../lib/stats/quantile.js';
import { summarise } from '../../../lib/stats/summary.js';
import { upTo } from './fixtures.js';

describe('quantiles of type 8', () => {
  // In R: quantile(x, p, type = 8)
  it.each([
    [10, 0.25, 2.916666667],
    [10, 0.5, 5.5],
    [10, 0.9, 9.633333333],
    [1, 0.99, 1],
    [299, 0.99, 296.673333333],
  ])('of 1 … %i at %d', (count, p, expected) => expect(quantile(upTo(count), p)).toBeCloseTo(expected, 6));
  it('interpolate between unequal steps', () => expect(quantile([1, 2, 4, 8, 16], 0.75)).toBeCloseTo(10.666666667, 6));
  it('are those of results', () => expect(summarise(upTo(299))?.p99).toBeCloseTo(296.673333333, 6));
  it('stay within the samples', () => {
    expect(quantile([3, 5], 0)).toBe(3);
    expect(quantile([3, 5], 1)).toBe(5);
    expect(rankedAt([3, 5], 1.25)).toBe(3.5);
  });
});

describe('the interval of a level', () => {
  it('of positive values is above 0 and contains their median', () => {
    const [low, high] = levelInterval([1, 2, 300]) as [number, number];
    expect(low).toBeGreaterThan(0);
    expect(low).toBeLessThan(2);
    expect(high).toBeGreaterThan(2);
  });
  it('of signed values is plain, and null of one', () => {
    const [low, high] = levelInterval([-1, 0, 1]) as [number, number];
    expect(low + high).toBeCloseTo(0, 12);
    expect(levelInterval([4])).toBeNull();
  });
});
