import { describe, expect, it } from 'vitest';
import { closedLoop, openLoop, poissonTimesMs } from '../../../lib/load/arrivals.js';
import { nowMs } from '../../../lib/load/clock.js';

const never = new AbortController().signal;

describe('the times of a Poisson process', () => {
  const times = poissonTimesMs(20_000, 50, 7);
  const gaps = [...times].map((time, index) => time - (times[index - 1] ?? 0));

  it('depend only on the seed', () => {
    expect(poissonTimesMs(20_000, 50, 7)).toEqual(times);
    expect(poissonTimesMs(20_000, 50, 8)).not.toEqual(times);
  });

  it('ascend', () => expect(gaps.every((gap) => gap >= 0 && Number.isFinite(gap))).toBe(true));

  it('have exponential gaps with the requested mean', () => {
    // Kolmogorov-Smirnov at 1 %: 1.63 / sqrt(n). The seed is fixed, so this cannot fail by chance.
    const sorted = [...gaps].sort((a, b) => a - b);
    const distance = Math.max(...sorted.map((gap, i) => Math.abs(1 - Math.exp(-gap / 20) - (i + 0.5) / sorted.length)));
    expect(distance).toBeLessThan(1.63 / Math.sqrt(sorted.length));
  });

  it('are a prefix of a longer list: more requests do not change earlier ones', () =>
    expect(poissonTimesMs(10, 50, 7)).toEqual(times.slice(0, 10)));
});

describe('an open loop', () => {
  it('sends all requests even if none is answered', async () => {
    const sent: number[] = [];
    const answers: (() => void)[] = [];
    const loop = openLoop(
      Float64Array.of(0, 1, 2, 3),
      (index) => {
        sent.push(index);
        return new Promise<void>((answer) => answers.push(answer));
      },
      never,
    );
    await expect.poll(() => sent).toEqual([0, 1, 2, 3]);
    for (const answer of answers) answer();
    await loop;
  });

  it('sends no request before its time, and reports that time', async () => {
    const offsets = Float64Array.of(0, 4, 4, 9.5);
    const scheduled: number[] = [];
    const early: number[] = [];
    const send = async (_: number, scheduledMs: number) => {
      scheduled.push(scheduledMs);
      if (nowMs() < scheduledMs) early.push(scheduledMs);
    };
    await openLoop(offsets, send, never);
    expect(early).toEqual([]);
    const [first = NaN] = scheduled;
    scheduled.forEach((time, index) => expect(time - first).toBeCloseTo(offsets[index] as number, 3));
  });

  it('keeps its schedule after a delay: late requests are sent at once', async () => {
    const scheduled: number[] = [];
    const send = async (index: number, scheduledMs: number) => {
      scheduled.push(scheduledMs);
      // Like an overloaded client.
      if (index === 0) for (const end = nowMs() + 30; nowMs() < end;);
    };
    await openLoop(Float64Array.of(0, 5, 10), send, never);
    expect((scheduled[2] as number) - (scheduled[0] as number)).toBeCloseTo(10, 3);
  });

  it('lets answers be read between overdue requests', async () => {
    let turns = 0;
    const turn = () => {
      turns++;
      immediate = setImmediate(turn);
    };
    let immediate = setImmediate(turn);
    await openLoop(new Float64Array(50), async () => {}, never);
    clearImmediate(immediate);
    expect(turns).toBeGreaterThanOrEqual(49);
  });

  it('sends nothing more after an abort, however late the next arrival is', async () => {
    const stop = new AbortController();
    const sent: number[] = [];
    const send = async (index: number) => {
      sent.push(index);
      stop.abort();
    };
    await openLoop(Float64Array.of(0, 3_600_000), send, stop.signal);
    expect(sent).toEqual([0]);
  });
});

describe('a closed loop', () => {
  it.each([
    [1, 7],
    [3, 7],
    [20, 7],
  ])('of %d keeps that many in flight until %d were sent', async (concurrency, count) => {
    const sent: number[] = [];
    let underWay = 0;
    let most = 0;
    const send = async (index: number) => {
      sent.push(index);
      most = Math.max(most, ++underWay);
      await new Promise(setImmediate);
      underWay--;
    };
    await closedLoop(count, concurrency, send, never);
    expect(sent).toEqual([...Array(count).keys()]);
    expect(most).toBe(Math.min(concurrency, count));
  });

  it('sends nothing more after an abort', async () => {
    const stop = new AbortController();
    let sent = 0;
    const send = async () => {
      if (++sent === 3) stop.abort();
    };
    await closedLoop(100, 1, send, stop.signal);
    expect(sent).toBe(3);
  });
});
