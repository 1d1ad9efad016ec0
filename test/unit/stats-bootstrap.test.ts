import { describe, expect, it } from 'vitest';
import { type Arm, type ArmRound, bootstrapCi95 } from '../../lib/stats/bootstrap.js';
import { median } from '../../lib/stats/median.js';
import { gaussian, upTo } from './stats-fixtures.js';

const relative = { relative: 0.05 };
const TRUE_RATIO = 1.1;

/** Processes vary by 1 %, and the blocks within a process by `within`. */
function noisy(seed: number, count: number, within: number): ArmRound[] {
  const noise = gaussian(seed);
  const arm = (truth: number): Arm => {
    const process = truth * Math.exp(0.01 * noise());
    const blocks = upTo(20).map(() => process * Math.exp(within * noise()));
    return { value: median(blocks).value, blocks };
  };
  return upTo(count).map(() => ({ system: arm(5 * TRUE_RATIO), baseline: arm(5) }));
}

const interval = (rounds: ArmRound[], seed = 1) => bootstrapCi95(rounds, 'lower', relative, seed) as [number, number];
const width = ([low, high]: [number, number]) => high - low;
const plain = (system: number, baseline: number): ArmRound => ({
  system: { value: system },
  baseline: { value: baseline },
});

describe('the bootstrap interval of an effect', () => {
  it('repeats for a seed and differs between seeds', () => {
    const rounds = noisy(1, 10, 0.01);
    expect(interval(rounds, 7)).toEqual(interval(rounds, 7));
    expect(interval(rounds, 7)).not.toEqual(interval(rounds, 8));
  });

  it('is null below ten rounds', () => {
    expect(bootstrapCi95(noisy(1, 9, 0.01), 'lower', relative, 1)).toBeNull();
    expect(bootstrapCi95(noisy(1, 10, 0.01), 'lower', relative, 1)).not.toBeNull();
  });

  it('is the effect itself if nothing varies', () => {
    const same = upTo(12).map((): ArmRound => ({ system: { value: 4, blocks: [4, 4, 4] }, baseline: { value: 2 } }));
    for (const end of interval(same)) expect(end).toBeCloseTo(2, 12);
    expect(bootstrapCi95(same, 'lower', { absolute: 5 }, 1)).toEqual([2, 2]);
  });

  it('ends at 2.5 and 97.5 %: two and eight of ten if half the rounds differ by e', () => {
    // P(Binomial(10, ½) ≤ 1) = 1.1 %, ≤ 2: 5.5 %.
    const halves = upTo(10).map((i) => plain(i % 2 === 0 ? Math.E : 1, 1));
    const [low, high] = interval(halves);
    expect(Math.log(low)).toBeCloseTo(0.2, 12);
    expect(Math.log(high)).toBeCloseTo(0.8, 12);
  });

  it('takes the median of the drawn blocks of a process', () => {
    // The median of three draws from 1, 2, 30 is 1 in 7 of 27 cases, 2 in 13 and 30 in 7.
    const uneven = upTo(10).map((): ArmRound => ({ system: { value: 2, blocks: [30, 1, 2] }, baseline: { value: 1 } }));
    const [low, high] = bootstrapCi95(uneven, 'lower', { absolute: 5 }, 1) as [number, number];
    // So its mean is 9, its standard deviation 12.4, and that of the mean of ten rounds 3.9: 8 ± 7.7 relative to a
    // baseline of 1.
    expect((low + high) / 2).toBeGreaterThan(6);
    expect((low + high) / 2).toBeLessThan(10.5);
    expect(high - low).toBeGreaterThan(12);
    expect(high - low).toBeLessThan(18);
  });

  it('depends on the direction of the metric, unlike the difference', () => {
    const rounds = noisy(3, 10, 0.01);
    const turned = bootstrapCi95(rounds, 'higher', relative, 1) as [number, number];
    const [low, high] = interval(rounds);
    expect(turned[0]).toBeCloseTo(1 / high, 12);
    expect(turned[1]).toBeCloseTo(1 / low, 12);
    const difference = (direction: 'lower' | 'higher') => bootstrapCi95(rounds, direction, { absolute: 1 }, 1);
    expect(difference('higher')).toEqual(difference('lower'));
  });

  it('is that of the difference if a value or a block is not positive', () => {
    const signed = upTo(10).map((i): ArmRound => ({
      system: { value: 251 },
      baseline: { value: 1, blocks: [1, 1, -i] },
    }));
    const [low, high] = interval(signed);
    expect(low).toBeGreaterThanOrEqual(250);
    expect(high).toBeLessThan(262);
  });

  it('is wider if the blocks of each process vary more', () => {
    const rounds = noisy(5, 10, 0);
    const spread = upTo(20).map((i) => 1 + 0.01 * (i - 10.5));
    const shaken = ({ value }: Arm): Arm => ({ value, blocks: spread.map((factor) => factor * value) });
    const varied = rounds.map(({ system, baseline }) => ({ system: shaken(system), baseline: shaken(baseline) }));
    expect(width(interval(varied))).toBeGreaterThan(2 * width(interval(rounds)));
  });

  // 92.1 and 92.7 % of 4 000 runs. The standard error of 200 runs is 1.9 %.
  it.each([10, 12])('over %i rounds covers the truth in 89 to 96 % of runs', (count) => {
    const covered = upTo(200).filter((seed) => {
      const [low, high] = interval(noisy(seed, count, 0.01), seed);
      return low <= TRUE_RATIO && TRUE_RATIO <= high;
    });
    expect(covered.length / 200).toBeGreaterThan(0.89);
    expect(covered.length / 200).toBeLessThan(0.96);
  });
});
