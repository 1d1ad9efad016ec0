import { describe, expect, it } from 'vitest';
import { established } from '../../../lib/stats/rule/false-discoveries.js';
import { differenceEstimate } from '../../../lib/stats/rule/estimate.js';
import { withRecorded } from '../../../lib/stats/rule/recorded-spread.js';
import { decide, type Evidence, evidenceOf, exactEvidence } from '../../../lib/stats/rule/verdict.js';
import { gaussian } from './fixtures.js';

const DELTA = Math.log(1.05);
const evidence = (centre: number, half: number, p: number): Evidence => ({
  ...{ centre, p },
  ci90: [centre - 0.8 * half, centre + 0.8 * half],
  ci95: [centre - half, centre + half],
});
const alone = (own: Evidence, delta = 0.05) => decide([{ evidence: own, delta }])[0];

describe('a verdict', () => {
  it('is slower or faster where a difference is shown, even if it is perhaps too small to count', () => {
    expect(alone(evidence(0.13, 0.1, 0.001))).toEqual({ established: true, relevance: 'straddles', verdict: 'slower' });
    expect(alone(evidence(-0.3, 0.1, 0.001))).toEqual({ established: true, relevance: 'beyond', verdict: 'faster' });
  });

  it('is same where the size is shown not to count, even if a difference is real', () =>
    expect(alone(evidence(0.02, 0.01, 0.0001))).toEqual({ established: true, relevance: 'within', verdict: 'same' }));

  it('is inconclusive where neither is shown, and without an interval', () => {
    expect(alone(evidence(0.06, 0.1, 0.2))?.verdict).toBe('inconclusive');
    expect(alone({ centre: 1, p: null, ci90: null, ci95: null })).toEqual({
      ...{ established: false, relevance: null, verdict: 'inconclusive' },
    });
  });

  it('of exact values needs rounds that agree, and changes no other verdict', () => {
    expect(alone(exactEvidence(1, [1, 1], [0, 0]))?.verdict).toBe('slower');
    expect(alone(exactEvidence(0, [1, 1], [1, 1]))?.verdict).toBe('same');
    expect(alone(exactEvidence(0.5, [1, 0], [0, 0]))?.verdict).toBe('inconclusive');
    expect(alone(exactEvidence(1, [1], [0]))?.verdict).toBe('inconclusive');
    const noisy = { evidence: evidence(0.13, 0.1, 0.04), delta: 0.05 };
    const exact = { evidence: exactEvidence(0, [1, 1], [1, 1]), delta: 0.5 };
    expect(decide([noisy, exact, exact])[0]?.verdict).toBe('slower');
  });
});

describe('the false discovery rate', () => {
  it('is that of Benjamini and Hochberg where everything counts', () => {
    const of = (...ps: number[]) => established(ps.map((p) => ({ p, counts: true })));
    expect(of(0.01, 0.02, 0.03, 0.5)).toEqual([true, true, true, false]);
    expect(of(0.02, 0.04, 0.5, 0.6)).toEqual([false, false, false, false]);
  });

  it('gives no room to effects that are too small to count', () => {
    const small = Array.from({ length: 9 }, () => ({ p: 1e-6, counts: false }));
    expect(established([...small, { p: 0.03, counts: true }])).toEqual([...small.map(() => true), false]);
    expect(established([...small, { p: 0.004, counts: true }]).at(-1)).toBe(true);
  });
});

interface Arms {
  effect: number;
  sd: readonly [system: number, baseline: number];
}

/** Families of five rounds with a shared part of 0.3 of the variance; what `decide` publishes of each. */
function families(count: number, rounds: number, arms: readonly Arms[], seed: number) {
  const noise = gaussian(seed);
  const one = ({ effect, sd: [own, other] }: Arms) => {
    const shared = Array.from({ length: rounds }, () => noise());
    const values = (sd: number, centre: number) =>
      shared.map((part) => centre + sd * (Math.sqrt(0.3) * part + Math.sqrt(0.7) * noise()));
    const estimate = differenceEstimate(values(own, effect), values(other, 0));
    return { evidence: evidenceOf(withRecorded(estimate, other, rounds)), delta: DELTA };
  };
  return Array.from({ length: count }, () => decide(arms.map(one)).map(({ verdict }) => verdict));
}

const isPublished = (verdict: string) => verdict === 'slower' || verdict === 'faster';
const repeated = (count: number, arms: Arms) => Array.from({ length: count }, () => arms);

describe('the verdicts of a family', () => {
  it.each([2, 3, 5, 10])('without any effect are false alarms in at most 5 %% of families, in %i rounds', (rounds) => {
    const found = families(250, rounds, repeated(12, { effect: 0, sd: [0.25, 0.05] }), rounds);
    const alarms = found.filter((verdicts) => verdicts.some(isPublished)).length;
    // 99 % of binomial numbers of 250 with 5 % are at most 21.
    expect(alarms).toBeLessThanOrEqual(21);
  });

  it('find +10 % at 2 % in five rounds, and call what does not differ the same', () => {
    const real = repeated(10, { effect: Math.log(1.1), sd: [0.02, 0.02] });
    const found = families(25, 5, [...real, ...repeated(56, { effect: 0, sd: [0.02, 0.02] })], 1);
    const share = (of: string, from: number, to: number) => {
      const those = found.flatMap((verdicts) => verdicts.slice(from, to));
      return those.filter((verdict) => verdict === of).length / those.length;
    };
    expect(share('slower', 0, 10)).toBeGreaterThan(0.95);
    expect(share('same', 10, 66)).toBeGreaterThan(0.92);
  });

  it('find a factor of three at 3 % in two rounds', () => {
    const arms = [{ effect: Math.log(3), sd: [0.03, 0.03] as const }, ...repeated(11, { effect: 0, sd: [0.03, 0.03] })];
    const found = families(50, 2, arms, 2).filter(([first]) => first === 'slower');
    expect(found.length).toBeGreaterThan(40);
  });

  it('publish few false ones beside fifty small precise effects', () => {
    const small = repeated(50, { effect: Math.log(1.015), sd: [0.003, 0.003] });
    const found = families(60, 5, [...small, ...repeated(16, { effect: 0, sd: [0.1, 0.1] })], 3);
    const alarms = found.filter((verdicts) => verdicts.slice(50).some(isPublished)).length;
    // Of 60 families with 5 %, 99 % have at most 8.
    expect(alarms).toBeLessThanOrEqual(8);
  });
});
