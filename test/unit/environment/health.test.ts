import { describe, expect, it } from 'vitest';
import { isIdle, slowdowns } from '../../../lib/environment/event-reasons.js';
import { checksBefore } from '../../../lib/environment/machine-health.js';
import { hostCpuBusy } from '../../../lib/environment/host-load.js';
import { gpuState } from '../run/fixtures.js';

const of = (change: Parameters<typeof gpuState>[0], cpu: number | null = 0.01) =>
  new Map(checksBefore(gpuState(change), cpu).map((check) => [check.name, check]));

describe('the checks before a run', () => {
  it('pass for an idle, healthy machine: seven checks', () => {
    const checks = checksBefore(gpuState(), 0.01);
    expect(checks.map(({ passed }) => passed)).toEqual(Array.from({ length: 7 }, () => true));
  });

  it.each([
    ['GPU temperature', { temperatureC: 79 }, { temperatureC: 80 }, '80 °C, expected below 80 °C'],
    ['GPU performance state', { performanceState: 2 }, { performanceState: 3, eventReasons: 0 }, 'P3'],
    ['GPU memory free', { freeBytes: 901, totalBytes: 1000 }, { freeBytes: 900, totalBytes: 1000 }, '90.0 % free'],
    [
      'no foreign GPU process',
      { processes: [process.pid, 1].map((pid) => ({ pid, usedBytes: pid === 1 ? 0 : 1, mpsClient: false })) },
      { processes: [{ pid: 1, usedBytes: null, mpsClient: false }] },
      'PID 1',
    ],
    ['persistence mode', { persistenceMode: true }, { persistenceMode: false }, 'off'],
    [
      'GPU clocks',
      { eventReasons: 0x03 },
      { eventReasons: 0x28 },
      'held back by hardware slowdown, thermal slowdown (software)',
    ],
  ])('%s: passes with %j, fails with %j', (name, good, bad, detail) => {
    expect(of(good).get(name)?.passed).toBe(true);
    expect(of(bad).get(name)).toMatchObject({ passed: false, detail: expect.stringContaining(detail) as string });
  });

  it('do not judge the slow state of an idle card', () =>
    expect(of({ performanceState: 8, eventReasons: 1 }).get('GPU performance state')?.passed).toBe('not checked'));

  it.each([
    [0.099, true],
    [0.1, false],
    [null, 'not checked'],
  ])('a host that is %s busy: %s', (busy, passed) => expect(of({}, busy).get('host CPU at rest')?.passed).toBe(passed));

  it('are not made for a GPU that NVML does not know, or for missing values', () => {
    const silent = Object.fromEntries(Object.keys(gpuState()).map((key) => [key, null]));
    for (const checks of [checksBefore(null, 0), checksBefore(gpuState(silent), 0)])
      expect(checks.filter(({ passed }) => passed === 'not checked')).toHaveLength(6);
  });
});

describe('event reasons', () => {
  it.each([
    [[0x00, 0x01, 0x02, 0x10], []],
    [
      [0x04, 0x80],
      ['power cap', 'power brake'],
    ],
    [[0x40], ['thermal slowdown (hardware)']],
  ])('of %j throttle the card: %j', (masks, names) => expect(slowdowns(masks)).toEqual(names));

  it('show whether the card is idle', () => expect([isIdle(0x05), isIdle(0x04)]).toEqual([true, false]));
});

describe('hostCpuBusy', () => {
  it('measures a busy processor', async () => {
    const until = performance.now() + 250;
    const looking = hostCpuBusy();
    while (performance.now() < until);
    const busy = await looking;
    expect(busy).toBeGreaterThan(0);
    expect(busy).toBeLessThanOrEqual(1);
  });

  it('ends at once with the reason of an abort', async () => {
    const controller = new AbortController();
    const looking = hostCpuBusy(controller.signal);
    controller.abort(new Error('enough'));
    await expect(looking).rejects.toThrow('enough');
  });
});
