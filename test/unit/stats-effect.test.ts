import { describe, expect, it } from 'vitest';
import { effect, holmVerdicts, type Round } from '../../lib/stats/effect.js';
import { gaussian } from './stats-fixtures.js';

const RUNS = 1_000;
const relative = { relative: 0.02 };

const rounds = (count: number, one: (i: number) => Round) => Array.from({ length: count }, (_, i) => one(i));

function noisy(seed: number, trueRatio: number, sd = 0.01): Round[] {
  const noise = gaussian(seed);
  return rounds(5, () => ({ baseline: 5 * Math.exp(sd * noise()), system: 5 * trueRatio * Math.exp(sd * noise()) }));
}

/** Both sides have the same 3 % drift over the run and autocorrelated noise. */
function drifting(seed: number): Round[] {
  const noise = gaussian(seed);
  let memory = 0;
  return rounds(5, (i) => {
    memory = 0.7 * memory + 0.01 * noise();
    const common = 5 * (1 + (0.03 * i) / 5) * Math.exp(memory);
    return { baseline: common * Math.exp(0.01 * noise()), system: common * Math.exp(0.01 * noise()) };
  });
}

const share = (seeds: number, holds: (seed: number) => boolean) =>
  Array.from({ length: seeds }, (_, i) => holds(i + 1)).filter(Boolean).length / seeds;

describe('an effect', () => {
  it('covers the truth in 93 to 97 % of runs', () => {
    const covered = share(RUNS, (seed) => {
      const [low, high] = effect(noisy(seed, 1.1), 'lower', relative).ratioCi95 as [number, number];
      return low <= 1.1 && 1.1 <= high;
    });
    expect(covered).toBeGreaterThan(0.93);
    expect(covered).toBeLessThan(0.97);
  });

  it('calls +10 % slower in at least 95 % of runs of five rounds with 1 % between processes', () =>
    expect(
      share(RUNS, (seed) => effect(noisy(seed, 1.1), 'lower', { relative: 0.05 }).verdictRaw === 'slower'),
    ).toBeGreaterThanOrEqual(0.95));

  it('has at most 5 % false alarms under drift and autocorrelated noise', () =>
    expect(
      share(RUNS, (seed) => ['slower', 'faster'].includes(effect(drifting(seed), 'lower', relative).verdictRaw)),
    ).toBeLessThanOrEqual(0.05));

  it('depends on the direction of the metric', () => {
    const worse = effect(noisy(1, 1.3), 'lower', relative);
    const better = effect(noisy(1, 1.3), 'higher', relative);
    expect([worse.verdictRaw, better.verdictRaw]).toEqual(['slower', 'faster']);
    expect((worse.ratio ?? 0) * (better.ratio ?? 0)).toBeCloseTo(1, 12);
    expect(worse.difference).toBe(better.difference);
  });

  it('uses the difference if values may be zero or negative', () => {
    const signed = rounds(5, (i) => ({ baseline: -1 + 0.1 * i, system: 250 + 0.2 * i }));
    const found = effect(signed, 'lower', { absolute: 5 });
    expect(found).toMatchObject({ ratio: null, ratioCi95: null, verdictRaw: 'slower' });
    expect(found.difference).toBeCloseTo(251.2, 10);
  });

  it('is same only if the whole interval is inside the threshold, and inconclusive if it straddles it', () => {
    expect(effect(noisy(3, 1, 0.0005), 'lower', relative).verdictRaw).toBe('same');
    expect(effect(noisy(3, 1.02, 0.02), 'lower', relative).verdictRaw).toBe('inconclusive');
    expect(effect([{ baseline: 1, system: 2 }], 'lower', relative).verdictRaw).toBe('inconclusive');
  });

  it('is certain if nothing varies', () => {
    const exact = rounds(5, () => ({ baseline: 2, system: 2 }));
    expect(effect(exact, 'lower', relative)).toMatchObject({ ratio: 1, verdictRaw: 'same' });
    const double = rounds(5, () => ({ baseline: 2, system: 4 }));
    expect(effect(double, 'lower', relative)).toMatchObject({ ratio: 2, verdictRaw: 'slower', pBeyondDelta: 0 });
  });
});

describe("Holm's adjustment", () => {
  const slower = (pBeyondDelta: number) => ({ verdictRaw: 'slower' as const, pBeyondDelta });
  it('stops at the first p that its rank does not allow', () =>
    expect(holmVerdicts([slower(0.01), slower(0.04), slower(0.03)])).toEqual([
      'slower',
      'inconclusive',
      'inconclusive',
    ]));
  it('keeps all verdicts that pass', () =>
    expect(holmVerdicts([slower(0.001), slower(0.02), slower(0.04)])).toEqual(['slower', 'slower', 'slower']));
  it('does not change same and inconclusive', () =>
    expect(
      holmVerdicts([
        { verdictRaw: 'same', pBeyondDelta: 1 },
        { verdictRaw: 'inconclusive', pBeyondDelta: null },
      ]),
    ).toEqual(['same', 'inconclusive']));
});
