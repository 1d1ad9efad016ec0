/** How often intervals of dependent samples cover the truth; `bench/coverage.js` prints more of it. */
import { describe, expect, it } from 'vitest';
import { median } from '../../../lib/stats/median.js';
import { serialMean, serialMedian, serialTrimmedMean, withoutInterval } from '../../../lib/stats/serial.js';
import { gaussian, related, upTo } from './fixtures.js';

const estimators = { serialMedian, serialMean, serialTrimmedMean };
type Name = keyof typeof estimators;

/**
 * Simulates `runs` seeded series around 0: which parts of them have an interval, and one that covers 0 or misses it.
 */
function simulated(name: Name, count: number, rho: number, runs: number) {
  let [given, missed] = [0, 0];
  for (let seed = 1; seed <= runs; seed++) {
    const { ci95 } = estimators[name](related(gaussian(seed), count, rho));
    if (!ci95) continue;
    given++;
    if (ci95[0] > 0 || ci95[1] < 0) missed++;
  }
  return { covered: (given - missed) / given, given: given / runs, missed: missed / runs };
}

const names = Object.keys(estimators) as Name[];
const RUNS = 1_000;

describe.each(names)('%s', (name) => {
  // Series with more than ten effective samples.
  it.each([
    [50, 0],
    [50, 0.3],
    [100, 0],
    [100, 0.3],
    [100, 0.6],
    [200, 0],
    [200, 0.6],
    [500, 0.9],
    [1_000, 0.3],
    [1_000, 0.9],
  ])('of %i samples whose neighbours correlate by %d covers the truth in 90 to 97 %%', (count, rho) => {
    const { covered, given } = simulated(name, count, rho, RUNS);
    expect(given).toBeGreaterThan(0.95);
    expect(covered).toBeGreaterThanOrEqual(0.9);
    expect(covered).toBeLessThanOrEqual(0.97);
  });

  it.each([
    [12, 0.9],
    [20, 0.3],
    [20, 0.6],
    [30, 0.6],
    [50, 0.6],
    [50, 0.9],
    [100, 0.9],
    [200, 0.9],
  ])('of %i samples whose neighbours correlate by %d rarely publishes an interval that misses', (count, rho) =>
    expect(simulated(name, count, rho, RUNS).missed).toBeLessThanOrEqual(0.08),
  );

  it('gives an interval for most independent series of 20 samples', () =>
    expect(simulated(name, 20, 0, RUNS).given).toBeGreaterThan(0.8));

  it('gives none for fewer than ten samples, and refuses an empty list', () => {
    expect(estimators[name](upTo(9))).toMatchObject({ value: 5, ci95: null, effectiveSamples: 9 });
    expect(() => estimators[name]([])).toThrow('Expected at least one sample but received none.');
  });

  it('depends on the order: the same samples in ascending order say less', () => {
    const samples = related(gaussian(3), 200, 0);
    const sorted = [...samples].sort((a, b) => a - b);
    const [shuffled, ascending] = [estimators[name](samples), estimators[name](sorted)];
    expect(ascending.value).toBeCloseTo(shuffled.value, 12);
    expect(shuffled.effectiveSamples).toBeGreaterThan(100);
    expect(ascending).toMatchObject({ ci95: null });
    expect(ascending.effectiveSamples).toBeLessThan(10);
  });

  it('is wider at a smaller alpha', () => {
    const samples = related(gaussian(5), 100, 0.3);
    const [low, high] = estimators[name](samples).ci95 as [number, number];
    const [lower, higher] = estimators[name](samples, { alpha: 0.005 }).ci95 as [number, number];
    expect(lower).toBeLessThan(low);
    expect(higher).toBeGreaterThan(high);
  });
});

it('the number of effective samples is near that of theory', () => {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  for (const [rho, expected] of [
    [0, 2_000],
    [0.5, 2_000 / 3],
    [0.9, 2_000 / 19],
  ] as const) {
    const found = mean(upTo(40).map((seed) => serialMean(related(gaussian(seed), 2_000, rho)).effectiveSamples));
    expect(found / expected).toBeGreaterThan(0.7);
    expect(found / expected).toBeLessThan(1.3);
  }
});

describe('samples on a grid', () => {
  it('leave at least half a step on either side', () => {
    const samples = related(gaussian(1), 200, 0).map((value) => 100 + Math.round(value / 10));
    expect(new Set(samples).size).toBeLessThanOrEqual(2);
    expect(serialMedian([...samples.slice(1), 101, 99]).ci95).toEqual([99.5, 100.5]);
  });
  it('use the step of the clock if it is known', () => {
    const samples = Array<number>(50).fill(32);
    expect(serialMedian(samples).ci95).toBeNull();
    expect(serialMedian(samples, { step: 32 }).ci95).toEqual([16, 48]);
    expect(serialMean(samples, { step: 32 }).ci95?.[1]).toBeCloseTo(32 * Math.exp(0.5), 9);
  });
});

describe('intervals of positive samples', () => {
  it('lie above 0 for a mean, however much samples vary', () => {
    const samples = upTo(40).map((i) => (i % 10 === 0 ? 1_000 : 1e-3));
    const { value, ci95 } = serialMean(samples);
    expect(ci95?.[0]).toBeGreaterThan(0);
    expect(ci95?.[1]).toBeGreaterThan(value);
  });
  it('of signed ones may contain 0', () => {
    const [low, high] = serialMean(related(gaussian(2), 100, 0)).ci95 as [number, number];
    expect(low).toBeLessThan(0);
    expect(high).toBeGreaterThan(0);
  });
});

it('the median is that of the independent estimate', () => {
  for (const count of [1, 2, 11, 40]) {
    const samples = related(gaussian(count), count, 0.5);
    expect(serialMedian(samples).value).toBeCloseTo(median(samples).value, 12);
  }
});

it('two levels that alternate leave both in the interval', () => {
  const [low, high] = serialMedian(upTo(400).map((i) => (i % 2 === 0 ? 90 : 110))).ci95 as [number, number];
  expect(low).toBeLessThanOrEqual(90);
  expect(high).toBeGreaterThanOrEqual(110);
});

describe('the reason for no interval', () => {
  it.each([
    [9, 9, '9 samples, and an interval needs 10'],
    [1, 1, '1 sample, and an interval needs 10'],
    [6.7, 200, '200 samples that depend on each other count as 6, and an interval needs 10'],
    [10, 200, null],
  ])('of %d effective samples of %i', (effective, samples, reason) =>
    expect(withoutInterval(effective, samples)).toBe(reason),
  );
});
