import { describe, expect, it } from 'vitest';
import { differenceEstimate } from '../../../lib/stats/rule/estimate.js';
import {
  detectable,
  rateFor,
  roundsToDecide,
  roundsToDetect,
  upperVariances,
  variancesOf,
} from '../../../lib/stats/rule/rounds-needed.js';
import { withRecorded } from '../../../lib/stats/rule/recorded-spread.js';
import { decide, evidenceOf } from '../../../lib/stats/rule/verdict.js';
import { gaussian } from './fixtures.js';

const family = { tested: 12, established: 0 };
const of = (sd: number) => [sd ** 2, sd ** 2] as const;

/** Share of simulated comparisons, as the only real effect of twelve, whose verdict is not inconclusive. */
function decided(size: number, sd: number, rounds: number, bound: number, recordedSd: number | null = null): number {
  const noise = gaussian(rounds);
  const arm = (centre: number) => Array.from({ length: rounds }, () => centre + sd * noise());
  const none = { evidence: { centre: 0, p: 1, ci90: null, ci95: null }, delta: bound };
  const runs = Array.from({ length: 400 }, () => {
    const evidence = evidenceOf(withRecorded(differenceEstimate(arm(size), arm(0)), recordedSd, rounds));
    return decide([{ evidence, delta: bound }, ...Array.from({ length: 11 }, () => none)])[0]?.verdict;
  });
  return runs.filter((verdict) => verdict !== 'inconclusive').length / runs.length;
}

describe('the rounds that an effect needs', () => {
  it('increase with its spread and decrease with its size', () => {
    const plan = { fewest: 3, most: 100, power: 0.8, family };
    const rounds = (size: number, sd: number) => roundsToDetect(size, of(sd), plan) ?? 0;
    expect(rounds(0.05, 0.02)).toBeGreaterThan(rounds(0.1, 0.02));
    expect(rounds(0.05, 0.04)).toBeGreaterThan(rounds(0.05, 0.02));
    expect(roundsToDetect(0.01, of(0.3), plan)).toBeNull();
  });

  it('are more in a larger family, and fewer beside effects that are established', () => {
    expect(rateFor({ tested: 66, established: 0 })).toBeCloseTo(0.05 / 66, 12);
    expect(rateFor({ tested: 66, established: 9 })).toBeCloseTo(0.5 / 66, 12);
    expect(rateFor({ tested: 0, established: 0 })).toBe(0.05);
  });

  it.each([
    [0.2, 0.08, 0.02],
    [0.03, 0.05, 0.1],
  ])('decide a size of %f at %f in most comparisons', (size, sd, bound) => {
    const rounds = roundsToDecide(size, of(sd), { bound, family, after: 2 }) as number;
    expect(decided(size, sd, rounds, bound)).toBeGreaterThan(0.7);
    expect(decided(size, sd, Math.max(2, Math.floor(rounds / 2)), bound)).toBeLessThan(0.7);
  });

  it('are unknown where the size is at the bound', () =>
    expect(roundsToDecide(0.001, of(0.1), { bound: 0.0011, family, after: 5 })).toBeNull());
});

describe('the smallest effect that rounds find', () => {
  it('is found with about the power that it was asked for', () => {
    const size = detectable(of(0.03), 6, family, 0.8);
    expect(decided(size, 0.03, 6, 0.0001)).toBeGreaterThan(0.72);
    expect(decided(size, 0.03, 6, 0.0001)).toBeLessThan(0.88);
  });

  it('is smaller in two rounds where the verdict uses a recorded spread', () => {
    const size = detectable(of(0.03), 2, family, 0.8, 0.03);
    expect(size).toBeLessThan(0.8 * detectable(of(0.03), 2, family, 0.8));
    expect(decided(size, 0.03, 2, 0.0001, 0.03)).toBeGreaterThan(0.8);
    expect(decided(0.7 * size, 0.03, 2, 0.0001, 0.03)).toBeLessThan(0.5);
  });
});

describe('upper limits of variances', () => {
  it('are exceeded by the truth in one of five pilots', () => {
    const noise = gaussian(4);
    const arm = () => Array.from({ length: 5 }, () => noise());
    const below = Array.from({ length: 2_000 }, () => {
      const [a, b] = upperVariances(variancesOf(arm(), arm()), 5, 0.8);
      return a + b < 2;
    }).filter(Boolean).length;
    expect(below / 2_000).toBeGreaterThan(0.15);
    expect(below / 2_000).toBeLessThan(0.25);
  });
});
