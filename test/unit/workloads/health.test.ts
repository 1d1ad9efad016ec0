import { describe, expect, it } from 'vitest';
import type { GpuState } from '../../../lib/native/addon-types.js';
import {
  coolDown,
  foreignCheck,
  memoryCheck,
  slowdownCheck,
  temperatureCheck,
} from '../../../lib/workloads/round/health.js';
import { energyOf } from '../../../lib/workloads/metrics/energy.js';
import type { RecordedGpu } from '../../../lib/workloads/round/gpu-record.js';

const { signal } = new AbortController();
const rules = { pauseSeconds: 0, mostSeconds: 60, degrees: 5 };
const state = (change: Partial<GpuState>) => change as GpuState;
const seen = (change: Partial<RecordedGpu>): RecordedGpu => ({
  ...{ samples: 1, programBytes: null, slowdowns: null, foreignPids: [], timeline: null },
  energy: { missing: 'none' },
  throttling: { missing: 'none' },
  ...change,
});

/** One temperature a look. */
function thermometer(...temperatures: (number | null)[]) {
  let looks = 0;
  return () =>
    Promise.resolve(state({ temperatureC: temperatures[Math.min(looks++, temperatures.length - 1)] ?? null }));
}

describe('cool-down', () => {
  it('waits until the temperature is back', async () => {
    expect(await coolDown(rules, 40, thermometer(60, 46, 45), signal)).toMatchObject({
      temperatureC: 45,
      isBack: true,
    });
  });

  it('gives up in the end, and the check says so', async () => {
    const cooled = await coolDown({ ...rules, mostSeconds: 0.01 }, 40, thermometer(80), signal);
    expect(cooled).toMatchObject({ temperatureC: 80, isBack: false });
    expect(temperatureCheck([cooled], rules)).toMatchObject({
      passed: false,
      detail: expect.stringContaining('80 °C'),
    });
  });

  it.each([
    ['the first run', rules, null, 70, true],
    ['no thermometer', rules, 40, null, null],
    ['a cool-down of 0 s', { ...rules, mostSeconds: 0 }, 40, 90, null],
  ] as const)('does not wait for %s', async (_, own, reference, temperature, isBack) => {
    expect(await coolDown(own, reference, thermometer(temperature), signal)).toMatchObject({ isBack });
  });

  it('ends with the signal', async () => {
    const stop = new AbortController();
    const waiting = coolDown({ ...rules, pauseSeconds: 1_000 }, null, thermometer(40), stop.signal);
    stop.abort(new Error('stopped'));
    await expect(waiting).rejects.toThrow();
  });
});

describe('what disturbs runs', () => {
  it('is a clock that was held back', () => {
    expect(slowdownCheck([seen({})])).toMatchObject({ passed: 'not checked' });
    expect(slowdownCheck([seen({ slowdowns: [] })])).toMatchObject({ passed: true });
    expect(slowdownCheck([seen({}), seen({ slowdowns: ['power cap'] })])).toMatchObject({
      passed: false,
      detail: 'power cap',
    });
  });

  it('is another process, but for our own', () => {
    const found = [seen({ foreignPids: [5], programBytes: 1 })];
    expect(foreignCheck([seen({ samples: 0 })], [])).toMatchObject({ passed: 'not checked' });
    expect(foreignCheck([seen({})], [], false)).toMatchObject({ passed: 'not checked' });
    expect(foreignCheck([seen({})], [])).toMatchObject({ passed: true });
    expect(foreignCheck(found, [5])).toMatchObject({ passed: true });
    expect(foreignCheck(found, [])).toMatchObject({ passed: false, detail: 'PID 5' });
    // It may be the program itself, by another number.
    expect(foreignCheck([seen({ foreignPids: [5] })], [])).toMatchObject({ passed: 'not checked' });
  });

  it('is memory that is not given back', () => {
    const used = (mib: number) => state({ usedBytes: mib * 2 ** 20 });
    expect(memoryCheck(used(100), used(150))).toMatchObject({ passed: true });
    expect(memoryCheck(used(100), used(300))).toMatchObject({ passed: false });
    expect(memoryCheck(null, used(300))).toMatchObject({ passed: 'not checked' });
  });
});

describe('energy', () => {
  const at = (s: number, powerW: number | null, energyJ: number | null = null) => ({
    ...{ monotonicNs: s * 1e9, powerW, energyJ },
  });

  it('is the difference of the counter at both ends, between the samples around them', () => {
    const samples = [at(9.9, 1, 90), at(10.1, 1, 110), at(12, 1, 200), at(12.9, 1, 290), at(13.1, 1, 330)];
    expect(energyOf(samples, 10e9, 13e9)).toEqual({ joules: 310 - 100, by: 'counter' });
  });

  it('goes on at the same rate where no sample lies beyond an end', () => {
    const energy = energyOf([at(10.1, 1, 110), at(12.8, 1, 380)], 10e9, 13e9);
    expect(energy).toMatchObject({ joules: expect.closeTo(300), by: 'counter' });
  });

  it('is the area below the power without a counter, where the first and last reading stand for the ends', () => {
    // 100 W for 0.5 s, to 200 W within 1 s, 200 W for 0.5 s.
    const energy = energyOf([at(9, 900), at(10.5, 100), at(11.5, 200), at(13, 900)], 10e9, 12e9);
    expect(energy).toEqual({ missing: expect.stringContaining('too seldom') });
    expect(energyOf([at(9, 900), at(10.3, 100), at(11.7, 200), at(13, 900)], 10e9, 12e9)).toMatchObject({
      joules: expect.closeTo(30 + 150 * 1.4 + 60),
      by: 'power',
    });
  });

  it('is that of the power where the counter was reset', () => {
    const samples = [at(10, 100, 500), at(11, 100, 3), at(12, 100, 103)];
    expect(energyOf(samples, 10e9, 12e9)).toMatchObject({ joules: expect.closeTo(200), by: 'power' });
  });

  it.each([
    ['of a run under 2 s', [at(0, 1), at(1, 1)], 1.9e9, 'a run of less than 2 s'],
    ['of one reading', [at(1, 1, 1)], 3e9, 'too seldom'],
    ['of readings outside the run', [at(4, 1), at(5, 1)], 3e9, 'too seldom'],
    ['without power', [at(0.1, null), at(2.9, null)], 3e9, 'neither energy nor power'],
  ] as const)('is not known %s', (_, samples, toNs, why) =>
    expect(energyOf(samples, 0, toNs)).toEqual({ missing: expect.stringContaining(why) }),
  );
});
