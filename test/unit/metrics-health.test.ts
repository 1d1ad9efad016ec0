import { describe, expect, it } from 'vitest';
import { healthChecks } from '../../lib/metrics/health-log.js';
import { summarise } from '../../lib/stats/summary.js';
import { gpuState } from './run-fixtures.js';

const ours = { processes: [{ pid: process.pid, usedBytes: 1, mpsClient: false }] };
const steady = Array.from({ length: 40 }, (_, i) => 100 + (i % 5));
const named = (log: Parameters<typeof healthChecks>[0], samples: number[] | null) =>
  new Map(healthChecks(log, samples && summarise(samples)).map(({ name, passed }) => [name, passed]));

describe('the health of a measurement', () => {
  it('passes all checks on a healthy machine', () =>
    expect([...named([gpuState(ours), gpuState(ours)], steady).values()]).toEqual([
      true,
      true,
      true,
      true,
      true,
      true,
    ]));

  it.each([
    ['SM clock steady', [gpuState({ ...ours, smClockMhz: 1000 }), gpuState({ ...ours, smClockMhz: 960 })]],
    ['no slowdown', [gpuState({ ...ours, eventReasons: 0x40 })]],
    ['performance state', [gpuState({ ...ours, performanceState: 5 })]],
    [
      'no foreign GPU process',
      [gpuState({ processes: [...ours.processes, { pid: 1, usedBytes: null, mpsClient: false }] })],
    ],
  ])('fails %s', (name, log) => {
    const checks = named(log, steady);
    expect(checks.get(name)).toBe(false);
    expect([...checks.values()].filter((passed) => passed === false)).toHaveLength(1);
  });

  it('does not count another process of this run as foreign', () => {
    const log = [
      gpuState({ processes: [...(ours.processes ?? []), { pid: 4711, usedBytes: null, mpsClient: false }] }),
    ];
    const foreign = (own: readonly number[]) =>
      healthChecks(log, null, own).find(({ name }) => name === 'no foreign GPU process');
    expect(foreign([])).toMatchObject({ passed: false, detail: 'PID 4711' });
    expect(foreign([4711])).toMatchObject({ passed: true, detail: 'none' });
    expect(foreign([4712])).toMatchObject({ passed: false, detail: 'PID 4711' });
  });

  it('accepts a clock within 3 % as steady', () =>
    expect(named([gpuState({ smClockMhz: 1000 }), gpuState({ smClockMhz: 970 })], null).get('SM clock steady')).toBe(
      true,
    ));

  it('counts outliers, and the spread of values above 0', () => {
    const outlying = [...steady, 1_000, 1_000, 1_000];
    expect(named([], outlying).get('outliers at most 5 %')).toBe(false);
    expect(named([], outlying).get('coefficient of variation at most 5 %')).toBe(false);
    const signed = steady.map((value, i) => (i % 2 === 0 ? value : -value));
    expect(named([], signed).get('coefficient of variation at most 5 %')).toBe('not checked');
  });

  it('makes no checks with few samples, or without readings', () => {
    expect([...named([], steady.slice(0, 19)).values()]).toEqual(['not checked', 'not checked']);
    expect(healthChecks([], null)).toEqual([]);
  });
});
