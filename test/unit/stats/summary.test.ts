import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../lib/stats/random.js';
import { percentileFloors, summarise } from '../../../lib/stats/summary.js';
import { upTo } from './fixtures.js';

describe('summarise', () => {
  // NIST Statistical Reference Datasets, NumAcc3: certified mean and standard deviation.
  it('is accurate (NIST NumAcc3)', () => {
    const samples = [1_000_000.2, ...Array.from({ length: 500 }, () => [1_000_000.1, 1_000_000.3]).flat()];
    const stats = summarise(samples);
    expect(stats?.count).toBe(1001);
    expect(stats?.mean).toBeCloseTo(1_000_000.2, 8);
    expect(stats?.stddev).toBeCloseTo(0.1, 8);
  });

  // NIST Michelson: certified to ten digits.
  it('agrees with NIST on the speed of light (first twenty of Michelson)', () => {
    const samples = [
      0.85, 0.74, 0.9, 1.07, 0.93, 0.85, 0.95, 0.98, 0.98, 0.88, 1.0, 0.98, 0.93, 0.65, 0.76, 0.81, 1.0, 1.0, 0.96,
      0.96,
    ].map((x) => 299 + x);
    const stats = summarise(samples);
    // In R: mean(x), sd(x), median(x), mad(x, constant = 1)
    expect(stats?.mean).toBeCloseTo(299.909, 10);
    expect(stats?.stddev).toBeCloseTo(0.104926, 6);
    expect(stats?.p50).toBeCloseTo(299.94, 10);
    expect(stats?.mad).toBeCloseTo(0.06, 10);
    expect([stats?.min, stats?.max]).toEqual([299.65, 300.07]);
    expect(stats?.cv).toBeCloseTo(0.104926 / 299.909, 8);
  });

  it.each([
    ['p90', 29],
    ['p95', 59],
    ['p99', 299],
    ['p999', 2995],
  ] as const)('gives %s from %i samples on', (name, floor) => {
    expect(percentileFloors[name]).toBe(floor);
    expect(summarise(upTo(floor - 1))?.[name]).toBeNull();
    expect(summarise(upTo(floor))?.[name]).toBeGreaterThan(floor * Number(`0.${name.slice(1)}`) - 1);
  });

  it('requires enough samples for a one-sided 95 % bound of a percentile', () => {
    for (const [p, floor] of [
      [0.9, percentileFloors.p90],
      [0.95, percentileFloors.p95],
      [0.99, percentileFloors.p99],
      [0.999, percentileFloors.p999],
    ] as const) {
      expect(1 - p ** floor).toBeGreaterThanOrEqual(0.95);
      expect(1 - p ** (floor - 1)).toBeLessThan(0.95);
    }
  });

  it('has percentiles that are samples', () => {
    const stats = summarise(upTo(10_000));
    expect(Math.abs((stats?.p90 as number) - 9_000)).toBeLessThanOrEqual(1);
    expect(Math.abs((stats?.p95 as number) - 9_500)).toBeLessThanOrEqual(1);
    expect(Math.abs((stats?.p99 as number) - 9_900)).toBeLessThanOrEqual(1);
    expect(Math.abs((stats?.p999 as number) - 9_990)).toBeLessThanOrEqual(1);
  });

  // Quartiles of 1 … 12 are 3.417 and 9.583 (type 8): fences at −5.8, 18.8; −15.1, 28.1. Of 1 … 12 and 21, 3.67 and 10.33:
  // fences at −6.3, 20.3.
  it.each([
    [[], { mild: 0, severe: 0 }],
    [[18], { mild: 0, severe: 0 }],
    [[21], { mild: 1, severe: 0 }],
    [[60], { mild: 0, severe: 1 }],
    [[-60], { mild: 0, severe: 1 }],
    [[-60, 60], { mild: 0, severe: 2 }],
  ])('counts outliers once, beside 1 … 12: %j', (further, outliers) =>
    expect(summarise([...upTo(12), ...further])?.outliers).toEqual(outliers),
  );

  it('drops no sample', () => {
    const stats = summarise([1, 1, 1, 1, 1, 1, 1e9, Number.MIN_SAFE_INTEGER]);
    expect(stats).toMatchObject({ count: 8, min: Number.MIN_SAFE_INTEGER, max: 1e9 });
    expect(stats?.outliers).toEqual({ mild: 0, severe: 2 });
  });

  it.each([
    [[], null],
    [[7], { count: 1, mean: 7, stddev: null, cv: null, mad: 0, min: 7, max: 7, p50: 7, p90: null }],
    [[-1, 1], { count: 2, mean: 0, cv: null, mad: 1 }],
  ] as [number[], object | null][])('summarises %j', (samples, wanted) => {
    const stats = summarise(samples);
    if (wanted) expect(stats).toMatchObject(wanted);
    else expect(stats).toBeNull();
  });

  it.each([[[-4, -5, -6]], [[0, 5, 6]], [[-0.1, 0.1, 0.2]]])('has no coefficient of variation for %j', (samples) =>
    expect(summarise(samples)?.cv).toBeNull(),
  );

  it('neither depends on the order of the samples nor changes it', () => {
    const random = seededRandom(3);
    const samples = Float64Array.from({ length: 500 }, () => random() * 1e6);
    const copy = samples.slice();
    expect(summarise(samples)).toEqual(summarise(samples.slice().sort()));
    expect(samples).toEqual(copy);
  });
});
