import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Sampler, samplingInterval } from '../../../lib/environment/sampler.js';
import { gpuState } from '../run/fixtures.js';

describe('the sampler', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('reads at once and then at its interval, into columns of equal length', async () => {
    let temperatureC = 30;
    const sampler = new Sampler(() => Promise.resolve(gpuState({ temperatureC: temperatureC++ })), 100);
    await vi.advanceTimersByTimeAsync(350);
    const samples = await sampler.stop();
    expect(samples).toMatchObject({ source: 'nvml', intervalMs: 100, temperatureC: [30, 31, 32, 33] });
    const { source: _source, intervalMs: _interval, ...columns } = samples ?? {};
    for (const column of Object.values(columns)) expect(column).toHaveLength(4);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(temperatureC).toBe(34);
  });

  it('leaves a gap if a reading fails, and returns nothing if all do', async () => {
    let turn = 0;
    const failing = () => (turn++ % 2 === 0 ? Promise.reject(new Error('lost')) : Promise.resolve(gpuState()));
    const sampler = new Sampler(failing, 100);
    await vi.advanceTimersByTimeAsync(350);
    expect((await sampler.stop())?.timeMs).toHaveLength(2);
    const blind = new Sampler(() => Promise.resolve(null), 100);
    await vi.advanceTimersByTimeAsync(350);
    expect(await blind.stop()).toBeUndefined();
  });

  it('never reads again before the last reading has ended', async () => {
    let asked = 0;
    const slow = async () => {
      asked++;
      await sleep(250);
      return gpuState();
    };
    const sampler = new Sampler(slow, 100);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(asked).toBeLessThanOrEqual(4);
    const stopped = sampler.stop();
    await vi.advanceTimersByTimeAsync(300);
    expect((await stopped)?.timeMs.length).toBe(asked);
  });
});

it.each([
  [1, 100],
  [60, 100],
  [61, 1_000],
])('a run of %d s is sampled every %d ms', (seconds, interval) => expect(samplingInterval(seconds)).toBe(interval));
