import { describe, expect, it } from 'vitest';
import type { GpuState } from '../../lib/native/addon-types.js';
import { coolDown, foreignCheck, memoryCheck, slowdownCheck, temperatureCheck } from '../../lib/workloads/health.js';
import { energyOf, type GpuReading } from '../../lib/workloads/watch.js';

const { signal } = new AbortController();
const rules = { pauseSeconds: 0, mostSeconds: 60, degrees: 5 };
const state = (change: Partial<GpuState>) => change as GpuState;
const reading = (change: Partial<GpuReading>): GpuReading => ({
  atNs: 0,
  powerW: null,
  temperatureC: null,
  eventReasons: null,
  programBytes: null,
  foreignPids: null,
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
    expect(slowdownCheck([reading({})])).toMatchObject({ passed: 'not checked' });
    expect(slowdownCheck([reading({ eventReasons: 0 })])).toMatchObject({ passed: true });
    expect(slowdownCheck([reading({ eventReasons: 0x40 })])).toMatchObject({ passed: false });
  });

  it('is another process, but for our own', () => {
    const found = [reading({ foreignPids: [5], programBytes: 1 })];
    expect(foreignCheck([reading({})], [])).toMatchObject({ passed: 'not checked' });
    expect(foreignCheck([reading({ foreignPids: [] })], [])).toMatchObject({ passed: true });
    expect(foreignCheck(found, [5])).toMatchObject({ passed: true });
    expect(foreignCheck(found, [])).toMatchObject({ passed: false, detail: 'PID 5' });
    // It may be the program itself, by another number.
    expect(foreignCheck([reading({ foreignPids: [5] })], [])).toMatchObject({ passed: 'not checked' });
  });

  it('is memory that is not given back', () => {
    const used = (mib: number) => state({ usedBytes: mib * 2 ** 20 });
    expect(memoryCheck(used(100), used(150))).toMatchObject({ passed: true });
    expect(memoryCheck(used(100), used(300))).toMatchObject({ passed: false });
    expect(memoryCheck(null, used(300))).toMatchObject({ passed: 'not checked' });
  });
});

describe('energy', () => {
  const at = (s: number, powerW: number | null) => reading({ atNs: s * 1e9, powerW });

  it('is the area below the power, whose first and last reading stand for the ends', () => {
    // 100 W for 1 s, to 200 W within 1 s, 200 W for 1 s.
    expect(energyOf([at(11, 100), at(12, 200)], 10e9, 13e9)).toBeCloseTo(100 + 150 + 200);
  });

  it.each([
    ['of a run under 2 s', [at(0, 1), at(1, 1)], 1.9e9],
    ['of one reading', [at(1, 1)], 3e9],
    ['of readings outside the run', [at(4, 1), at(5, 1)], 3e9],
    ['without power', [at(1, null), at(2, null)], 3e9],
  ] as const)('is not known %s', (_, readings, toNs) => expect(energyOf(readings, 0, toNs)).toBeNull());
});
