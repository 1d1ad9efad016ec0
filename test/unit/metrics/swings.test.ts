import { describe, expect, it } from 'vitest';
import { swingsOf } from '../../../lib/metrics/isolation/shared/swings.js';

const bins = (count: number, share: number): number[] => Array<number>(count).fill(share);

describe('swingsOf', () => {
  it('finds when a limit first acts, and its period', () => {
    // A limit of 50 % like HAMi-core's block counter: nothing for 3.5 s, then a gap every 4 s.
    const cycle = [...bins(5, 10), ...bins(35, 100)];
    expect(swingsOf([...bins(35, 100), ...cycle, ...cycle, ...cycle], 50, 100)).toEqual({
      onsetMs: 3_500,
      periodMs: 4_000,
      lowPercent: 10,
      highPercent: 100,
    });
  });

  it('has no onset without a limit, and no period with fewer than three falls', () => {
    expect(swingsOf(bins(20, 100), 50, 100)).toEqual({
      onsetMs: null,
      periodMs: null,
      lowPercent: 100,
      highPercent: 100,
    });
    expect(swingsOf([...bins(4, 100), ...bins(4, 40), ...bins(4, 100), ...bins(4, 40)], 50, 100)).toMatchObject({
      onsetMs: 400,
      periodMs: null,
      lowPercent: 40,
    });
  });

  it('counts a share that stays near the threshold once', () => {
    const near = Array.from({ length: 30 }, (_, i) => (i % 2 === 0 ? 74 : 76));
    expect(swingsOf(near, 50, 100)).toMatchObject({ onsetMs: 0, periodMs: null });
  });

  it('is 0 for a limit that holds from the start', () => {
    expect(swingsOf(bins(20, 50), 50, 100)).toEqual({
      onsetMs: 0,
      periodMs: null,
      lowPercent: 50,
      highPercent: 50,
    });
  });
});
