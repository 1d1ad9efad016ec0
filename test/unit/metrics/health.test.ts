import { describe, expect, it } from 'vitest';
import { healthChecks } from '../../../lib/metrics/core/health-log.js';
import { summarise } from '../../../lib/stats/summary.js';
import { metricNamed } from '../../metric-named.js';
import { gpuState } from '../run/fixtures.js';

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

  it('does not count what is listed with 0 bytes, as a process is that starts on another GPU', () => {
    const log = [gpuState({ processes: [...ours.processes, { pid: 4711, usedBytes: 0, mpsClient: false }] })];
    expect(named(log, steady).get('no foreign GPU process')).toBe(true);
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

  it('counts no outliers where all samples are within a per cent or so', () => {
    // More than 5 % lie beyond the fences, by 0.3 %.
    const close = [...Array.from({ length: 40 }, (_, i) => 152_864 + 32 * (i % 2)), 153_300, 153_300, 153_300];
    const checks = healthChecks([], summarise(close));
    expect(checks[0]).toEqual({
      name: 'outliers at most 5 %',
      passed: 'not checked',
      detail: '7.0 % of 43 samples, but the coefficient of variation is 0.1 %',
    });
    expect(checks[1]).toMatchObject({ passed: true });
  });

  it('does not check the variation of samples that have to vary', () => {
    const waits = Array.from({ length: 40 }, (_, i) => 1 + i);
    const varies = { variesBecause: 'the wait ends with a time slice' };
    const [outliers, variation] = healthChecks([], summarise(waits), [], varies);
    expect(outliers).toMatchObject({ passed: true });
    expect(variation).toMatchObject({ passed: 'not checked', detail: 'the wait ends with a time slice' });
    expect(metricNamed('SCHED-004').variesBecause).toContain('time slice');
  });

  it('makes no checks with few samples, or without readings', () => {
    expect([...named([], steady.slice(0, 19)).values()]).toEqual(['not checked', 'not checked']);
    expect(healthChecks([], null)).toEqual([]);
  });
});
