/** What follows from latencies of loads, for latencies with known results. */
import { describe, expect, it } from 'vitest';
import { besideAll } from '../../../lib/metrics/cache/beside.js';
import { evictedPercent } from '../../../lib/metrics/cache/cache-002-eviction.js';
import { worstLoss } from '../../../lib/metrics/cache/cache-003-collision.js';
import { indistinct, missesBeyond } from '../../../lib/metrics/cache/calibration.js';
import {
  added,
  type Latency,
  meansOf,
  modesOf,
  ratioOf,
  scaleOf,
  summary,
  type Tally,
  tallyOf,
  walksOf,
} from '../../../lib/metrics/cache/latencies.js';
import type { Chase } from '../../../lib/native/addon-types.js';

/** Loads around a latency, fewer the farther away. */
const around = (ns: number, loads: number): Latency[] =>
  [-2, -1, 0, 1, 2].map((off) => ({ ns: ns * (1 + 0.03 * off), loads: loads / (1 + Math.abs(off)) }));

const LIMITS = { thresholdNs: 300, gapNs: 4_500 };

describe('modes', () => {
  it('are those of the near half, the far half and the memory', () => {
    const modes = modesOf([...around(450, 300), ...around(150, 500), ...around(215, 400)]);
    expect(modes.map(({ ns }) => Math.round(ns))).toEqual([150, 215, 450]);
    expect(modes.map(({ part }) => Math.round(12 * part))).toEqual([5, 4, 3]);
  });

  it('are one where latencies scatter around it', () => {
    const scattered = Array.from({ length: 20 }, (_, i) => ({
      ns: 140 * 1.02 ** i,
      loads: 100 - 8 * Math.abs(i - 10),
    }));
    expect(modesOf(scattered)).toHaveLength(1);
  });

  it('do not count a few loads far away', () =>
    expect(modesOf([...around(150, 1_000), { ns: 20_000, loads: 10 }])).toHaveLength(1));
});

describe('a scale', () => {
  const far = [...around(150, 500), ...around(215, 500)];

  it('divides between the far half and the memory', () => {
    const scale = scaleOf(far, [...around(450, 1_000), ...around(215, 50)]);
    expect(scale.missNs).toBeCloseTo(450, 6);
    expect(scale.thresholdNs).toBeCloseTo(Math.sqrt(215 * 450), 6);
    expect(scale.gapNs).toBeCloseTo(4_500, 5);
    expect(scale.hitNs).toBeCloseTo((150 + 215) / 2, 6);
    expect(ratioOf(scale)).toBeCloseTo(450 / 215, 6);
  });

  it('leaves out what waited for another context', () =>
    expect(scaleOf([...far, { ns: 2e6, loads: 900 }], around(450, 1_000)).hits).toHaveLength(2));

  it('says why hits and misses cannot be told apart', () => {
    const workingSets = [{ ofL2: 8, bytes: 1, ...summary(around(450, 1), LIMITS) }];
    const calibration = (missNs: number) => ({ l2Bytes: 1, scale: scaleOf(far, around(missNs, 10)), workingSets });
    expect(indistinct(calibration(300))).toBe(
      'a load that misses the L2 cache takes 300 ns and one that hits it 215 ns: less than 1.5 times as long',
    );
    expect(indistinct(calibration(450))).toBeNull();
    expect(missesBeyond(calibration(450))).toMatchObject({ passed: true, detail: '0.00 %' });
  });
});

describe('a summary', () => {
  const latencies = [
    { ns: 100, loads: 30 },
    { ns: 200, loads: 10 },
    { ns: 400, loads: 60 },
    { ns: 1e6, loads: 5 },
  ];

  it('counts gaps and leaves them out of everything else', () =>
    expect(summary(latencies, LIMITS)).toEqual({
      loads: 100,
      hits: 40,
      gaps: 5,
      gapsPercentOfTime: (100 * 5e6) / (5e6 + 29_000),
      hitPercent: 40,
      meanNs: 290,
      hitNs: 125,
      p50Ns: 400,
      p99Ns: 400,
    }));

  it('has no numbers without loads', () =>
    expect(summary([], LIMITS)).toMatchObject({
      loads: 0,
      gapsPercentOfTime: null,
      meanNs: null,
      hitNs: null,
      p99Ns: null,
    }));

  it('is that of the sums of its parts', () => {
    const parts = latencies.map((each) => tallyOf([each], LIMITS));
    expect(meansOf(added(parts))).toEqual({ hitPercent: 40, meanNs: 290, hitNs: 125 });
  });
});

/** Walks of 10 ms, one after the other, with one load each. */
const chase = (originMs: number, walks: number): Chase => ({
  l2Bytes: 1,
  bytes: 1,
  blocks: 1,
  cyclesPerNs: 2,
  originMs,
  fromNs: Array.from({ length: walks }, (_, i) => i * 1e7),
  toNs: Array.from({ length: walks }, (_, i) => (i + 1) * 1e7),
  walk: Array.from({ length: walks }, (_, i) => i),
  cycles: Array.from({ length: walks }, (_, i) => 200 + 2 * i),
  loads: Array<number>(walks).fill(1),
});

describe('walks', () => {
  it('have the latencies of their own loads, in ns', () =>
    expect(walksOf(chase(7, 2), 5)).toEqual([
      { fromNs: 2e6, toNs: 1.2e7, latencies: [{ ns: 100, loads: 1 }] },
      { fromNs: 1.2e7, toNs: 2.2e7, latencies: [{ ns: 101, loads: 1 }] },
    ]));

  it('count where they lie in the time of every neighbour', () => {
    const { walks, kernels } = besideAll(chase(100, 5), [chase(95, 4), chase(110, 3)]);
    // From 110 to 135 ms.
    expect(walks.map(({ latencies }) => latencies[0]?.ns)).toEqual([101, 102]);
    expect(kernels).toEqual([3, 2]);
  });

  it('do not count beside a neighbour that ran before or never', () => {
    expect(besideAll(chase(100, 5), [chase(0, 3)]).walks).toEqual([]);
    expect(besideAll(chase(100, 5), [chase(0, 0)]).walks).toEqual([]);
  });
});

describe('evicted lines', () => {
  const probe = (loads: number, misses: number): Tally => ({
    loads,
    ns: 0,
    hits: loads - misses,
    hitNs: 0,
    gaps: 0,
    gapsNs: 0,
  });
  const round = (evicted: number, control: number) => ({
    evicted: probe(100, evicted),
    control: probe(100, control),
    between: true,
  });

  it('are the misses after a burst without those of the control, signed', () => {
    expect(evictedPercent([round(60, 5), round(40, 5)])).toBeCloseTo(45, 9);
    expect(evictedPercent([round(1, 3)])).toBeCloseTo(-2, 9);
  });
});

it('the worst loss is that of the tenant that loses most, signed', () => {
  expect(worstLoss([100, 200, 100], [90, 100, 100])).toBe(50);
  expect(worstLoss([100], [110])).toBeCloseTo(-10, 9);
});
