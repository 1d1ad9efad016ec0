import { describe, expect, it } from 'vitest';
import { heldBack } from '../../../lib/metrics/isolation/shared/limited-rows.js';
import { mechanismOf } from '../../../lib/metrics/isolation/shared/mechanism.js';
import type { Load } from '../../../lib/native/addon-types.js';

const MS = 1e6;
const all = Array.from({ length: 132 }, (_, i) => i);

/** Kernels of these lengths, each after an idle time. */
function load(kernels: readonly (readonly [idleNs: number, lengthNs: number])[], change: Partial<Load> = {}): Load {
  let now = 0;
  const spans = kernels.map(([idle, length], i) => {
    const at = now + (i > 0 ? idle : 0);
    now = at + length;
    return { at, length, idle: i > 0 ? idle : 0 };
  });
  const gaps = spans.filter(({ idle }) => idle >= 50_000);
  return {
    rounds: 1,
    blocks: 264,
    multiprocessors: 132,
    multiprocessorsUsed: all,
    partition: 0,
    launches: kernels.length,
    kernels: kernels.length,
    work: kernels.length * 264,
    firstBin: 0,
    hostOriginNs: 0,
    hostBracketNs: 0,
    bins: [],
    startedNs: 0,
    endedNs: now,
    busyNs: spans.reduce((sum, { length }) => sum + length, 0),
    hostStartedNs: 0,
    gaps: gaps.length,
    gapsListed: { atNs: gaps.map(({ at, idle }) => at - idle), tookNs: gaps.map(({ idle }) => idle) },
    kernelsListed: { atNs: spans.map(({ at }) => at), tookNs: spans.map(({ length }) => length) },
    callsNs: [],
    mostInFlight: 1,
    ...change,
  };
}

const free = load(Array(400).fill([10_000, MS]));
const repeated = (times: number, ...cycle: [number, number][]) => Array(times).fill(cycle).flat() as [number, number][];
const burst = (idleNs: number, kernels: number): [number, number][] => [
  [idleNs, MS],
  ...Array(kernels - 1).fill([10_000, MS]),
];

function named(limited: Load, limitPercent = 30, reference = free) {
  const rate = ({ kernels, endedNs }: Load) => kernels / endedNs;
  const achievedPercent = (100 * rate(limited)) / rate(reference);
  return mechanismOf({ limited, reference, limitPercent, achievedPercent, inFlight: 8 });
}

describe('the mechanism of a compute limit', () => {
  it('is none if all work is done', () => expect(named(free).name).toBe('none'));

  it('is a delay per launch if every kernel is followed by the same idle time', () =>
    expect(named(load(repeated(100, [2.4 * MS, MS])))).toEqual({
      name: 'delay per launch',
      evidence: '100.0 % of launches are followed by 2.4 ms without work (half of them within 0.0 % of that)',
    }));

  it('is a bounded queue if every kernel is followed by a wait for the host', () => {
    const short = load(repeated(200, [60_000, 20_000]));
    const unlimited = load(repeated(200, [1_000, 20_000]));
    expect(named(short, 10, unlimited)).toMatchObject({
      name: 'bounded queue',
      evidence: expect.stringContaining('1 of 8 launches'),
    });
  });

  it('is a token bucket if bursts are periodic', () =>
    expect(named(load(repeated(30, ...burst(14 * MS, 6))))).toMatchObject({
      name: 'token bucket',
      evidence: expect.stringMatching(/idle for 14\.0 ms after .* every 20\.\d ms/),
    }));

  it('is a token bucket if idle times are multiples of a sleep, however long the bursts are', () => {
    const sleeps = [1, 5, 2, 11, 1, 7, 3, 12, 2, 9, 1, 4].map((n) => n * 10.2 * MS);
    const trace = load(sleeps.flatMap((idle, i) => burst(idle, [1, 9, 2, 4][i % 4] as number)));
    expect(named(trace, 40)).toMatchObject({
      name: 'token bucket',
      evidence: expect.stringContaining('multiples of 10 ms'),
    });
  });

  it('is exclusive phases if both busy and idle times are long', () =>
    expect(named(load(repeated(3, ...burst(700 * MS, 300)))).name).toBe('exclusive phases'));

  it('is a partition if fewer multiprocessors are used all the time', () => {
    const half = load(Array(200).fill([10_000, 2 * MS]), { multiprocessorsUsed: all.slice(0, 66) });
    expect(named(half, 50)).toEqual({
      name: 'partition',
      evidence: 'ran on 66 of 132 multiprocessors, 99.5 % of the time',
    });
  });

  it('is unclear if kernels are slowed down on all multiprocessors', () =>
    expect(named(load(Array(100).fill([10_000, 3 * MS])))).toEqual({
      name: 'unclear',
      evidence: 'kernels took 3.0 times as long on 132 of 132 multiprocessors and idle times are -0.7 % of the time',
    }));

  it('is unclear if idle times have no common period', () => {
    const idle = [3.3, 17.7, 5.6, 41.4, 9.3, 26.5, 2.7, 13.4, 34.6, 7.5].map((ms) => ms * MS);
    expect(named(load(idle.flatMap((ns, i) => burst(ns, 1 + (i % 3)))), 40).name).toBe('unclear');
  });
});

describe('heldBack', () => {
  // 1 ms of work in every 4.
  const idle = load(Array.from({ length: 50 }, () => [3 * MS, MS]));
  const busy = load(Array.from({ length: 50 }, () => [0, MS]));

  it('reports that the unlimited run was limited too if it did less than the limited one', () => {
    expect(heldBack(127, idle)).toBe(
      'no kernel ran for 75 % of the run without the limit, and the run under the limit did more (127 %): the run without it may be limited too',
    );
  });

  it('accepts a share below that of the unlimited run, and a busy run', () => {
    expect(heldBack(60, idle)).toBeNull();
    expect(heldBack(127, busy)).toBeNull();
  });
});
