import { describe, expect, it } from 'vitest';
import { differenceOfMedians } from '../../lib/stats/difference.js';
import { median } from '../../lib/stats/median.js';
import { gaussian, upTo } from './stats-fixtures.js';

describe('the difference of medians', () => {
  it('of one pair combines the two intervals by squares', () => {
    const without = upTo(21).map((i) => 100 + i);
    const withLimit = upTo(21).map((i) => 300 + 2 * i);
    const [a, b] = [median(withLimit), median(without)];
    const { value, ci95 } = differenceOfMedians([{ with: withLimit, without }]);
    expect(value).toBe(a.value - b.value);
    const half = (m: typeof a) => ((m.ci95?.[1] ?? 0) - (m.ci95?.[0] ?? 0)) / 2;
    expect(((ci95?.[1] ?? 0) - (ci95?.[0] ?? 0)) / 2).toBeCloseTo(Math.hypot(half(a), half(b)), 9);
  });

  it('of one pair of few samples has no interval', () =>
    expect(differenceOfMedians([{ with: [3, 4, 5], without: [1, 1, 1] }])).toEqual({ value: 3, ci95: null }));

  it('of several pairs is their mean, with a t interval over pairs', () => {
    const pair = (difference: number) => ({
      with: upTo(9).map((i) => 50 + difference + i),
      without: upTo(9).map((i) => 50 + i),
    });
    const { value, ci95 } = differenceOfMedians([pair(8), pair(10), pair(12)]);
    expect(value).toBeCloseTo(10, 9);
    // 4.303 standard errors of 2 / √3 for two degrees of freedom.
    expect((ci95?.[1] ?? 0) - 10).toBeCloseTo((4.302652729 * 2) / Math.sqrt(3), 6);
  });

  it.each([1, 8])('of %i pairs covers the truth in 93 % of seeded runs or more', (pairs) => {
    const noise = gaussian(5);
    const runs = 1_000;
    const process = (level: number) => {
      const own = pairs > 1 ? 10 * noise() : 0;
      return upTo(60).map(() => level + own + 20 * noise());
    };
    const covered = upTo(runs).filter(() => {
      const { ci95 } = differenceOfMedians(upTo(pairs).map(() => ({ with: process(1_100), without: process(1_000) })));
      return ci95 !== null && ci95[0] <= 100 && 100 <= ci95[1];
    }).length;
    expect(covered / runs).toBeGreaterThanOrEqual(0.93);
    expect(covered / runs).toBeLessThanOrEqual(0.99);
  });

  it('refuses none', () =>
    expect(() => differenceOfMedians([])).toThrow('Expected at least one pair but received none.'));
});
