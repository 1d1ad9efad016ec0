import { describe, expect, it } from 'vitest';
import { differenceEstimate, halfWidth, intervalOf, meanEstimate, pAt } from '../../../lib/stats/rule/estimate.js';
import { withRecorded } from '../../../lib/stats/rule/recorded-spread.js';
import { gaussian } from './fixtures.js';

const RUNS = 2_000;
const arm = (noise: () => number, count: number, sd: number) => Array.from({ length: count }, () => sd * noise());
const share = (holds: (run: number) => boolean) =>
  Array.from({ length: RUNS }, (_, i) => holds(i)).filter(Boolean).length / RUNS;

describe('the difference of two means', () => {
  it('has the p of the published example (unequal variances, equal sizes)', () => {
    const a = [27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4];
    const b = [27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 20.5, 24.4];
    // Welch's p is 0.02138: below 5 % the larger variance counts √(0.05 / p) times, which makes it larger.
    expect(pAt(differenceEstimate(a, b))).toBeGreaterThan(0.02138);
    expect(pAt(differenceEstimate(a, b))).toBeLessThan(0.023);
  });

  it.each([
    [5, 1],
    [5, 5],
    [10, 1],
    [10, 5],
  ])(
    'has intervals of %i values an arm that cover 93 to 98 % where one arm varies %i times as much',
    (count, factor) => {
      const noise = gaussian(count + factor);
      const covered = share(() => {
        const [low, high] = intervalOf(differenceEstimate(arm(noise, count, factor), arm(noise, count, 1))) ?? [1, -1];
        return low <= 0 && 0 <= high;
      });
      expect(covered).toBeGreaterThan(0.93);
      expect(covered).toBeLessThan(0.98);
    },
  );

  it('has a p that agrees with the interval at every level', () => {
    const estimate = differenceEstimate([3, 4, 6, 4], [1, 3, 2, 2]);
    for (const alpha of [0.2, 0.05, 0.001]) {
      const half = halfWidth(estimate, alpha) ?? 0;
      expect(pAt(estimate, estimate.centre - half)).toBeCloseTo(alpha, 6);
    }
  });

  it('is not certain where values agree on a grid, and has no interval without one', () => {
    const tied = [
      [5, 5, 5],
      [6, 6, 6],
    ] as const;
    expect(intervalOf(differenceEstimate(...tied))).toBeNull();
    expect(pAt(differenceEstimate(...tied))).toBeNull();
    expect(pAt(differenceEstimate(...tied, [1, 1]))).toBeGreaterThan(0.005);
  });

  it('has no interval with one value in an arm', () => expect(intervalOf(differenceEstimate([1], [2, 3]))).toBeNull());
});

describe('a recorded spread', () => {
  it('shows a factor of three in two rounds, and changes no interval of five', () => {
    const noise = gaussian(5);
    const two = () =>
      differenceEstimate(
        [Math.log(3), Math.log(3)].map((x) => x + 0.03 * noise()),
        arm(noise, 2, 0.03),
      );
    expect(pAt(withRecorded(two(), 0.03, 2))).toBeLessThan(0.05 / 12);
    const five = differenceEstimate(arm(noise, 5, 0.03), arm(noise, 5, 0.03));
    const [plain, recorded] = [five, withRecorded(five, 0.03, 5)].map((each) => halfWidth(each, 0.05) ?? 0) as [
      number,
      number,
    ];
    expect(recorded / plain).toBeGreaterThan(1);
    expect(recorded / plain).toBeLessThan(1.02);
  });

  it('raises no more false alarms where an arm varies five times as much as recorded', () => {
    const noise = gaussian(8);
    const alarms = share(
      () => (pAt(withRecorded(differenceEstimate(arm(noise, 2, 0.15), arm(noise, 2, 0.03)), 0.03, 2)) ?? 1) <= 0.05,
    );
    expect(alarms).toBeLessThan(0.07);
  });
});

describe('the mean of one arm', () => {
  it('has the t interval of its values', () => {
    const [low, high] = intervalOf(meanEstimate([1, 2, 3, 4, 5])) ?? [0, 0];
    expect([low, high].map((end) => Number(end.toFixed(3)))).toEqual([1.037, 4.963]);
  });

  it('is not certain where rounds agree to a step of the clock', () =>
    expect(pAt(meanEstimate([1, 1, 1, 1, 1], 1))).toBeGreaterThan(0.001));
});
