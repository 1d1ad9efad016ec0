import { describe, expect, it } from 'vitest';
import { settling } from '../../../lib/metrics/isolation/shared/settling.js';

const BIN_MS = 20;
const seconds = (length: number, percent: number): number[] =>
  Array(Math.round((1_000 * length) / BIN_MS)).fill(percent);
const settled = (...parts: number[][]) => settling({ binMs: BIN_MS, percent: parts.flat() }, 50);

describe('settling', () => {
  it('is immediate if the share is at the limit from the first bin on', () =>
    expect(settled(seconds(4, 50))).toEqual({ afterMs: 0, observedMs: 1_500, overshootPercentSeconds: 0 }));

  it('is when the average of 500 ms exceeds the limit by less than a tenth', () => {
    const { afterMs, overshootPercentSeconds } = settled(seconds(1, 100), seconds(4, 50));
    // 50 ms of 100 % in 500 ms: an average of 55 %.
    expect(afterMs).toBe(960);
    expect(overshootPercentSeconds).toBeCloseTo(0.96 * 50);
  });

  it('also follows a share that is too small, which is no overshoot', () => {
    expect(settled(seconds(1, 0), seconds(4, 50))).toMatchObject({ afterMs: 960, overshootPercentSeconds: 0 });
  });

  it('averages out periods that are short compared with the window', () => {
    const bursts = Array.from({ length: 200 }, (_, i) => (i % 5 === 0 ? 100 : 37.5));
    expect(settled(bursts).afterMs).toBe(0);
  });

  it.each([
    ['above it', [seconds(6, 60)]],
    ['below it', [seconds(6, 40)]],
    ['swinging around it', [seconds(1, 90), seconds(1, 10), seconds(1, 90), seconds(1, 10), seconds(1, 90)]],
    ['at it for less than 2 s', [seconds(2, 100), seconds(2.3, 50), seconds(2, 100)]],
    ['seen too short', [seconds(2.4, 50)]],
  ])('never happens if the share is %s', (_, parts) => expect(settled(...parts).afterMs).toBeNull());
});
