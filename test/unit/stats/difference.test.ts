import { describe, expect, it } from 'vitest';
import { meanOfMedians } from '../../../lib/stats/rule/difference.js';
import { serialMedian } from '../../../lib/stats/serial.js';
import { gaussian, upTo } from './fixtures.js';

describe('the difference of pairs of processes', () => {
  it('of one pair is its median, with its interval', () => {
    const turns = upTo(21).map((i) => 300 + 2 * ((8 * i) % 21));
    const { value, ci95 } = serialMedian(turns);
    expect(ci95).not.toBeNull();
    expect(meanOfMedians([turns])).toEqual({ value, ci95 });
  });

  it('of one pair with few repetitions has no interval', () =>
    expect(meanOfMedians([[3, 4, 5]])).toEqual({ value: 4, ci95: null }));

  it('of several pairs is their mean, with a t interval over pairs', () => {
    const pair = (difference: number) => upTo(9).map((i) => difference + i - 5);
    const { value, ci95 } = meanOfMedians([pair(8), pair(10), pair(12)]);
    expect(value).toBeCloseTo(10, 9);
    // 4.303 standard errors of 2 / √3, for two degrees of freedom.
    expect((ci95?.[1] ?? 0) - 10).toBeCloseTo((4.302652729 * 2) / Math.sqrt(3), 6);
  });

  it.each([1, 8])('of %i pairs covers the truth in 93 % of seeded runs or more', (pairs) => {
    const noise = gaussian(5);
    const runs = 1_000;
    const turnsOf = (level: number) => {
      const own = pairs > 1 ? 10 * noise() : 0;
      return upTo(20).map(() => level + own + 20 * noise());
    };
    const intervals = upTo(runs).flatMap(() => {
      const { ci95 } = meanOfMedians(upTo(pairs).map(() => turnsOf(100)));
      return ci95 ? [ci95] : [];
    });
    const covered = intervals.filter(([low, high]) => low <= 100 && 100 <= high).length;
    // Twenty turns of one pair sometimes seem to depend on each other by chance.
    expect(intervals.length / runs).toBeGreaterThanOrEqual(pairs > 1 ? 1 : 0.8);
    expect(covered / intervals.length).toBeGreaterThanOrEqual(0.93);
    expect(covered / intervals.length).toBeLessThanOrEqual(0.99);
  });

  it('refuses an empty list', () =>
    expect(() => meanOfMedians([])).toThrow('Expected at least one pair but received none.'));
});
