import { describe, expect, it } from 'vitest';
import { interval } from '../../lib/stats/effect.js';
import { unpairedEffect } from '../../lib/stats/unpaired.js';
import { welchEstimate } from '../../lib/stats/welch.js';
import { gaussian } from './stats-fixtures.js';

const relative = { relative: 0.05 };

/** Oracle: scipy 1.17.1, stats.ttest_ind(a, b, equal_var=False), its df and confidence_interval(). */
describe("Welch's interval", () => {
  const a = [27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4];
  const b = [27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 20.5, 24.4];
  const c = [17.2, 20.9, 22.6, 18.1, 21.7, 21.4, 23.5, 24.2, 14.7, 21.8];
  const d = [
    21.5, 22.8, 21.0, 23.0, 21.6, 23.6, 22.5, 20.7, 23.4, 21.8, 20.7, 21.7, 21.5, 22.5, 23.6, 21.5, 22.5, 23.5, 21.5,
    21.8,
  ];
  it.each([
    ['equal sizes', a, b, 24.988529290231416, [-3.984096267140929, -0.3492370661924069]],
    ['unequal sizes', c, d, 9.904741248650831, [-3.698421325375163, 0.6484213253751658]],
  ])('is that of the oracle: %s', (_, x, y, df, ci95) => {
    const estimate = welchEstimate(x, y);
    expect(estimate?.df).toBeCloseTo(df, 10);
    const [low, high] = interval(estimate as NonNullable<typeof estimate>);
    expect(low).toBeCloseTo(ci95[0] as number, 9);
    expect(high).toBeCloseTo(ci95[1] as number, 9);
  });

  it('needs two values per side', () => {
    expect(welchEstimate([1], [1, 2])).toBeNull();
    expect(welchEstimate([1, 2], [])).toBeNull();
  });

  it('has no width if the variance is zero or negligible', () => {
    for (const tiny of [0, 1e-200]) {
      const estimate = welchEstimate([2, 2 + tiny], [1, 1, 1]);
      expect(interval(estimate as NonNullable<typeof estimate>)).toEqual([1, 1]);
    }
  });
});

describe('an effect against another session', () => {
  const now = [5.1, 5.3, 5.2, 5.6, 5.25];
  const then = [4.9, 5.0, 4.8, 4.95, 5.05, 4.85, 5.0];

  /** The same oracle on logarithms. */
  it('is the ratio of geometric means with its interval', () => {
    const { ratio, ratioCi95, difference, verdictRaw } = unpairedEffect(now, then, 'lower', relative);
    expect(ratio).toBeCloseTo(1.071399390884719, 12);
    expect(ratioCi95?.[0]).toBeCloseTo(1.0264969251418494, 10);
    expect(ratioCi95?.[1]).toBeCloseTo(1.1182660431540226, 10);
    expect(difference).toBeCloseTo(5.29 - 4.935714285714286, 12);
    expect(verdictRaw).toBe('inconclusive');
  });

  it('depends on the direction, unlike the difference', () => {
    const [lower, higher] = [
      unpairedEffect(now, then, 'lower', relative),
      unpairedEffect(now, then, 'higher', relative),
    ];
    expect((lower.ratio ?? 0) * (higher.ratio ?? 0)).toBeCloseTo(1, 12);
    expect(lower.difference).toBe(higher.difference);
  });

  it('is a difference if values may be zero or negative', () => {
    const found = unpairedEffect([250, 251, 252], [-1, 0, 1, 0], 'lower', { absolute: 5 });
    expect(found).toMatchObject({ ratio: null, ratioCi95: null, difference: 251, verdictRaw: 'slower' });
    const signed = unpairedEffect([1, 2, -3], [1, 2, 3], 'lower', relative);
    expect(signed).toMatchObject({ ratio: null, verdictRaw: 'inconclusive' });
  });

  it('is inconclusive with one value on a side', () => {
    for (const [x, y] of [
      [[5], then],
      [now, [5]],
    ] as const) {
      const found = unpairedEffect(x, y, 'lower', relative);
      expect(found).toMatchObject({ ratio: null, ratioCi95: null, differenceCi95: null, verdictRaw: 'inconclusive' });
    }
    expect(unpairedEffect(now, [5], 'lower', relative).difference).toBeCloseTo(0.29, 12);
    expect(unpairedEffect([], then, 'lower', relative).difference).toBeNaN();
  });

  it('covers the truth in 93 to 97 % of sessions with unequal sizes and spreads', () => {
    const covers = (seed: number) => {
      const noise = gaussian(seed);
      const values = (count: number, centre: number, sd: number) =>
        Array.from({ length: count }, () => centre * Math.exp(sd * noise()));
      const [low, high] = unpairedEffect(values(5, 5.5, 0.03), values(8, 5, 0.01), 'lower', relative).ratioCi95 ?? [
        0, 0,
      ];
      return low <= 1.1 && 1.1 <= high;
    };
    const covered = Array.from({ length: 2_000 }, (_, seed) => covers(seed + 1)).filter(Boolean).length / 2_000;
    expect(covered).toBeGreaterThan(0.93);
    expect(covered).toBeLessThan(0.97);
  });
});
