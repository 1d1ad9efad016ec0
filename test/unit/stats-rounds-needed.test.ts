import { describe, expect, it } from 'vitest';
import { effect } from '../../lib/stats/effect.js';
import { roundsNeeded } from '../../lib/stats/rounds-needed.js';
import { gaussian } from './stats-fixtures.js';

const delta = { relative: 0.02 };
const ended = (centre: number, half: number, rounds = 5) => ({
  rounds,
  ratioCi95: [Math.exp(centre - half), Math.exp(centre + half)] as [number, number],
  differenceCi95: null,
});

describe('the rounds that an inconclusive effect needs', () => {
  it('increase as it approaches the threshold of a difference', () => {
    const [far, near] = [0.1, 0.03].map((centre) => roundsNeeded(ended(centre, 0.12), delta));
    expect(far).toBeGreaterThan(5);
    expect(near).toBeGreaterThan(far as number);
    expect(roundsNeeded(ended(Math.log1p(0.02), 0.12), delta)).toBeNull();
  });

  it('are more than were measured', () => expect(roundsNeeded(ended(0.5, 0.01), delta)).toBe(6));

  it('are unknown with one round, or without an interval on the scale of δ', () => {
    expect(roundsNeeded(ended(0.1, 0.12, 1), delta)).toBeNull();
    expect(roundsNeeded(ended(0.1, 0.12), { absolute: 5 })).toBeNull();
    expect(roundsNeeded({ rounds: 5, ratioCi95: null, differenceCi95: [-1, 21] }, { absolute: 5 })).toBeGreaterThan(5);
  });

  it('resolve most effects of that variance', () => {
    const noise = gaussian(3);
    const rounds = (count: number) =>
      Array.from({ length: count }, () => ({ system: 1.1 * Math.exp(0.1 * noise()), baseline: 1 }));
    // Assumes that the five rounds have exactly this mean and this standard deviation.
    const half = (2.776445 * 0.1) / Math.sqrt(5);
    const count = roundsNeeded(ended(Math.log(1.1), half), delta) as number;
    const resolved = Array.from({ length: 400 }, () => effect(rounds(count), 'lower', delta).verdictRaw).filter(
      (verdict) => verdict === 'slower',
    );
    // Half, if the interval always had its expected length: the mean exceeds the truth in half of the cases.
    expect(resolved.length / 400).toBeGreaterThan(0.4);
    expect(resolved.length / 400).toBeLessThan(0.7);
  });
});
