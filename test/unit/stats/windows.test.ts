/** Statistics of several tenants or windows: coverage of their intervals in seeded simulations. */
import { describe, expect, it } from 'vitest';
import { differenceInterval, ratioInterval } from '../../../lib/stats/rule/combined.js';
import { jain, jainCi95 } from '../../../lib/stats/jain.js';
import { largestOf, smallestOf } from '../../../lib/stats/largest.js';
import { serialMedian } from '../../../lib/stats/serial.js';
import { figureOfWindows } from '../../../lib/stats/figure-of-windows.js';
import { gaussian, related, upTo } from './fixtures.js';

const RUNS = 400;

/** Share of the intervals that cover. */
function coverage(once: (noise: () => number, seed: number) => { ci95: [number, number] | null; truth: number }) {
  const found = upTo(RUNS).flatMap((seed) => {
    const { ci95, truth } = once(gaussian(seed), seed);
    return ci95 ? [ci95[0] <= truth && truth <= ci95[1]] : [];
  });
  return { covered: found.filter(Boolean).length / found.length, given: found.length / RUNS };
}

const meanOf = (values: readonly number[], places: readonly number[]) =>
  places.reduce((sum, place) => sum + (values[place] as number), 0) / places.length;

describe('a figure of windows', () => {
  it.each([
    [50, 0],
    [100, 0],
    [100, 0.5],
    [200, 0.5],
  ])('of %i windows that correlate by %d covers the truth in 90 to 98 %%', (count, rho) => {
    const { covered, given } = coverage((noise) => {
      const [a, b] = [90, 100].map((level) => related(noise, count, rho).map((value) => level + 10 * value));
      const ratio = ([own, other]: readonly (readonly number[])[]) =>
        meanOf(a as number[], own as number[]) / meanOf(b as number[], other as number[]);
      return { ci95: figureOfWindows([count, count], ratio, { isPositive: true }).ci95, truth: 0.9 };
    });
    expect(given).toBeGreaterThan(0.9);
    expect(covered).toBeGreaterThanOrEqual(0.9);
    expect(covered).toBeLessThanOrEqual(0.98);
  });

  it('has no interval with few or equal windows', () => {
    const of = (values: readonly number[]) =>
      figureOfWindows([values.length], ([windows]) => meanOf(values, windows as number[]), { isPositive: true });
    expect(of([1, 2, 3, 4, 5, 6, 7, 8, 9])).toEqual({ value: 5, ci95: null, effectiveSamples: 9 });
    expect(of(Array<number>(20).fill(2))).toMatchObject({ value: 2, ci95: null });
  });
});

describe("Jain's index", () => {
  it.each([
    [[1, 1, 1, 1], 40, 0],
    [[1, 1, 1, 1], 40, 0.4],
    [[1, 1, 1, 1.05], 40, 0],
    [[1, 1, 1, 1.3], 40, 0],
    [[1, 1, 1, 3], 100, 0.4],
  ])('of shares %j in %i windows that correlate by %d is covered in 92 %% or more', (shares, count, rho) => {
    const { covered, given } = coverage((noise, seed) => {
      const windows = shares.map((share) => related(noise, count, rho).map((value) => share * (1 + value / 10)));
      return { ci95: jainCi95(windows, seed), truth: jain(shares) as number };
    });
    expect(given).toBeGreaterThan(rho === 0 ? 0.9 : 0.4);
    expect(covered).toBeGreaterThanOrEqual(0.92);
  });

  it('may be 1 if shares are equal, and is not if they clearly differ', () => {
    const of = (shares: readonly number[]) =>
      jainCi95(
        shares.map((share) => related(gaussian(share), 60, 0).map((value) => share * (1 + value / 20))),
        1,
      ) as [number, number];
    const even = upTo(20).filter((seed) => {
      const windows = upTo(4).map((tenant) => related(gaussian(10 * seed + tenant), 60, 0).map((x) => 1 + x / 20));
      return jainCi95(windows, seed)?.[1] === 1;
    });
    expect(even.length).toBeGreaterThan(15);
    expect(of([1, 2, 3, 4])[1]).toBeLessThan(0.9);
  });

  it('has no interval without work, with few windows, or without any variation', () => {
    expect(jainCi95([Array<number>(20).fill(0), Array<number>(20).fill(0)], 1)).toBeNull();
    expect(jainCi95([upTo(5), upTo(5)], 1)).toBeNull();
    expect(jainCi95([Array<number>(20).fill(1), Array<number>(20).fill(2)], 1)).toBeNull();
  });
});

describe('the worst of several', () => {
  it.each([
    [4, 0],
    [11, 0],
    [11, 0.5],
    [11, 3],
  ])('of %i tenants, one of them worse by %d standard deviations, is covered in 94 %% or more', (tenants, worse) => {
    const { covered, given } = coverage((noise) => {
      const samples = upTo(tenants).map((tenant) =>
        related(noise, 40, 0).map((value) => value + (tenant === tenants ? worse : 0)),
      );
      return { ...largestOf(samples.map((own) => (alpha) => serialMedian(own, { alpha }))), truth: worse };
    });
    expect(given).toBeGreaterThan(0.8);
    expect(covered).toBeGreaterThanOrEqual(0.94);
  });

  const fixed = (value: number, ci95: [number, number] | null) => () => ({ value, ci95 });

  it('has the value and the limits of the highest', () => {
    expect(largestOf([fixed(3, [2, 4]), fixed(5, [1, 9]), fixed(4, [3, 5])])).toEqual({
      ...{ value: 5, ci95: [3, 9], place: 1 },
    });
    expect(smallestOf([fixed(3, [2, 4]), fixed(5, [1, 9])])).toEqual({ value: 3, ci95: [1, 4], place: 0 });
  });

  it('has no interval if one has no upper limit, and refuses none', () => {
    expect(largestOf([fixed(3, [2, 4]), fixed(5, null)])).toMatchObject({ value: 5, ci95: null });
    expect(() => largestOf([])).toThrow('Expected at least one estimate but received none.');
  });
});

describe('intervals of two estimates', () => {
  it('add in squares for a difference', () =>
    expect(differenceInterval({ value: 10, ci95: [7, 13] }, { value: 4, ci95: [0, 8] })).toEqual([1, 11]));
  it('of a ratio lie above 0', () => {
    const [low, high] = ratioInterval({ value: 1, ci95: [0.01, 100] }, { value: 1, ci95: [1, 1] }) as [number, number];
    expect(low).toBeCloseTo(0.01, 12);
    expect(high).toBeCloseTo(100, 9);
  });
  it('are missing if either is', () => {
    expect(differenceInterval({ value: 1, ci95: null }, { value: 1, ci95: [0, 2] })).toBeNull();
    expect(ratioInterval({ value: 1, ci95: [0, 2] }, { value: 1, ci95: [0.5, 2] })).toBeNull();
  });
});
