import { describe, expect, it } from 'vitest';
import { againstZero, effect, type Model } from '../../../lib/stats/rule/effect.js';
import { decide } from '../../../lib/stats/rule/verdict.js';

const model: Model = { direction: 'lower', delta: { relative: 0.05 }, values: 'continuous', sd: null };
const near = (value: number, spread = 0.01) => [1, 1 + spread, 1 - spread, 1 + spread / 2, 1].map((x) => x * value);
const verdict = (system: readonly number[], baseline: readonly number[], change: Partial<Model> = {}) => {
  const used = { ...model, ...change };
  const delta = 'relative' in used.delta ? Math.log1p(used.delta.relative) : used.delta.absolute;
  return decide([{ evidence: effect(system, baseline, used).evidence, delta }])[0]?.verdict;
};

const p = (system: readonly number[], baseline: readonly number[], change: Partial<Model> = {}) =>
  effect(system, baseline, { ...model, ...change }).evidence.p;

describe('an effect', () => {
  it('is a ratio of geometric means, above 1 where it is worse', () => {
    const worse = effect(near(6), near(5), model);
    const better = effect(near(6), near(5), { ...model, direction: 'higher' });
    expect(worse.ratio).toBeCloseTo(1.2, 12);
    expect((worse.ratio ?? 0) * (better.ratio ?? 0)).toBeCloseTo(1, 12);
    expect(worse.difference).toBe(better.difference);
    expect([verdict(near(6), near(5)), verdict(near(6), near(5), { direction: 'higher' })]).toEqual([
      'slower',
      'faster',
    ]);
  });

  it('is a difference where values may be zero or negative', () => {
    const found = effect([250, 250.2, 250.4], [-1, -0.9, -0.8], { ...model, delta: { absolute: 5 } });
    expect(found).toMatchObject({ ratio: null, ratioCi90: null, ratioCi95: null });
    expect(found.difference).toBeCloseTo(251.1, 10);
    expect(verdict([250, 250.2, 250.4], [-1, -0.9, -0.8], { delta: { absolute: 5 } })).toBe('slower');
  });

  it('has no evidence on the scale of a percentage without a ratio', () => {
    expect(effect([0, 1], [1, 2], model)).toMatchObject({ ratio: null, evidence: { p: null, ci95: null } });
    expect(verdict([0, 0, 0], [10, 11, 12])).toBe('inconclusive');
  });

  it('has a ratio without an interval in a single round', () =>
    expect(effect([4], [2], model)).toMatchObject({
      ...{ ratio: expect.closeTo(2, 12) as number, ratioCi95: null, evidence: { p: null } },
    }));

  it('does not depend on which rounds are beside each other', () =>
    expect(effect([5, 6, 7], [1, 2, 3], model).ratioCi95).toEqual(effect([7, 5, 6], [1, 2, 3], model).ratioCi95));
});

describe('values on a grid', () => {
  it('are the same or inconclusive where they tie, never certain', () => {
    const tied = (value: number) => [value, value, value, value, value];
    expect(p(tied(10.01), tied(10))).toBeGreaterThan(0.001);
    expect(verdict(tied(10.01), tied(10))).toBe('same');
    expect(p(tied(11), tied(10), { values: { grid: 1 } })).toBeGreaterThan(0.001);
    expect(verdict(tied(11), tied(10), { values: { grid: 0.001 } })).toBe('slower');
    expect(verdict(tied(10), tied(10), { values: { grid: 0.1 } })).toBe('same');
  });

  it('have the step of their last decimal place if a program printed them', () => {
    const printed = { values: 'printed' } as const;
    expect(p([0.12, 0.12, 0.12], [0.11, 0.11, 0.11], printed)).toBeGreaterThan(0.001);
    expect(p([0.1234, 0.1234, 0.1234], [0.1112, 0.1112, 0.1112], printed)).toBeLessThan(1e-4);
  });
});

describe('exact values', () => {
  it('have an interval without a width where rounds agree, else none', () => {
    const exact = { ...model, direction: 'higher', delta: { absolute: 0.5 }, values: 'exact' } as const;
    expect(effect([0, 0], [1, 1], exact)).toMatchObject({ difference: -1, differenceCi95: [-1, -1] });
    expect(effect([0, 1], [1, 1], exact)).toMatchObject({ differenceCi95: null });
    expect(verdict([0, 0], [1, 1], exact)).toBe('slower');
  });
});

describe('an effect against zero', () => {
  it('is the mean over rounds with its t interval', () => {
    const { value, ci95 } = againstZero([10, 12, 14]);
    expect(value).toBe(12);
    expect(ci95?.map((end) => Number(end.toFixed(2)))).toEqual([7.03, 16.97]);
  });
});
