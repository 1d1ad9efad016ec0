/** How long the GPU lowered its clocks in a run, and power, temperature and clock in its tenths. */
import { describe, expect, it } from 'vitest';
import type { GpuSample } from '../../../lib/monitor/sample.js';
import { meanParts, meanReasons, throttlingOf } from '../../../lib/workloads/metrics/throttling.js';
import { gpuSample } from '../monitor/fixtures.js';

const SECONDS = 20;
const RUN = { fromNs: 5e9, toNs: (5 + SECONDS) * 1e9, intervalMs: 100 };

/** A sample every 0.1 s of the run. */
const samples = (at: (seconds: number) => Partial<GpuSample>): GpuSample[] =>
  Array.from({ length: 10 * SECONDS }, (_, i) =>
    gpuSample({ monotonicNs: RUN.fromNs + i * 1e8, clockReasons: [], ...at(i / 10) }),
  );

const measured = (all: readonly GpuSample[]) => {
  const found = throttlingOf(all, RUN);
  if ('missing' in found) throw new Error(found.missing);
  return found;
};

describe('throttling of a run', () => {
  it('is the part of its time in which a slowdown was named, by reason and in each tenth', () => {
    // From 10 s on it heats up; from 15 s on it is slowed down, and in the last 2 s by two reasons.
    const heating = samples((s) => ({
      powerW: 300 + 10 * Math.floor(s / 2),
      temperatureC: s < 10 ? 50 : 40 + s,
      smClockMhz: s < 15 ? 1980 : 1500,
      clockReasons: [
        ...(s < 1 ? ['idle'] : []),
        ...(s >= 15 ? ['power cap'] : []),
        ...(s >= 18 ? ['thermal slowdown (software)'] : []),
      ],
    }));
    const { percent, reasons, parts } = measured(heating);
    expect(percent).toBeCloseTo(25, 6);
    expect(reasons).toEqual({
      'power cap': expect.closeTo(25, 6),
      'thermal slowdown (software)': expect.closeTo(10, 6),
    });
    expect(parts.map(({ fromS, toS }) => [fromS, toS])).toEqual(
      Array.from({ length: 10 }, (_, i) => [expect.closeTo(2 * i, 6), expect.closeTo(2 * i + 2, 6)]),
    );
    expect(parts.map(({ powerW }) => powerW)).toEqual(
      Array.from({ length: 10 }, (_, i) => expect.closeTo(300 + 10 * i, 6)),
    );
    expect(parts.map(({ temperatureC }) => temperatureC)).toEqual(
      [50, 50, 50, 50, 50, 51.9, 53.9, 55.9, 57.9, 59.9].map((celsius) => expect.closeTo(celsius, 6)),
    );
    expect(parts.map(({ smClockMhz }) => Math.round(smClockMhz ?? 0))).toEqual([
      ...Array.from({ length: 7 }, () => 1980),
      ...[1740, 1500, 1500],
    ]);
    expect(parts.map(({ throttledPercent }) => Math.round(throttledPercent ?? -1))).toEqual([
      ...Array.from({ length: 7 }, () => 0),
      ...[50, 100, 100],
    ]);
  });

  it('is 0 where none is named: idleness and application clocks are no slowdowns', () => {
    const { percent, reasons } = measured(samples(() => ({ clockReasons: ['idle', 'application clocks'] })));
    expect([percent, reasons]).toEqual([0, {}]);
  });

  it('weighs readings by their time, not by their number', () => {
    // A reading every 0.2 s at first, then every 0.1 s.
    const uneven = samples((s) => ({ clockReasons: s < 10 ? [] : ['power cap'] })).filter(
      (_, i) => i >= 100 || i % 2 === 0,
    );
    expect(measured(uneven).percent).toBeCloseTo(50, 6);
  });

  it('is not known where NVML was silent, the run short or the readings too few', () => {
    const all = samples(() => ({}));
    expect(
      throttlingOf(
        samples(() => ({ clockReasons: null })),
        RUN,
      ),
    ).toEqual({
      missing: 'NVML gives no reasons for the clocks of this GPU',
    });
    expect(throttlingOf(all, { ...RUN, toNs: RUN.fromNs + 1.9e9 })).toEqual({
      missing: 'a run of less than 2 s has too few readings of the clocks',
    });
    // A third of the run is not covered.
    expect(
      throttlingOf(
        all.filter((_, i) => i < 130),
        RUN,
      ),
    ).toEqual({
      missing: 'the GPU was read too seldom: shorten interval of monitor',
    });
  });

  it('has no number for what NVML does not report', () => {
    const { parts } = measured(samples(() => ({ powerW: null, temperatureC: null, smClockMhz: null })));
    expect(parts[3]).toMatchObject({ powerW: null, temperatureC: null, smClockMhz: null, throttledPercent: 0 });
  });
});

describe('several runs', () => {
  const one = measured(samples((s) => ({ powerW: 100, clockReasons: s < 10 ? ['power cap'] : [] })));
  const other = measured(samples(() => ({ powerW: 200 })));

  it('are joined by means; a run without a reason counts as 0, one that is not known not at all', () => {
    const runs = [one, other, { missing: 'it was too short' }];
    expect(meanReasons(runs)).toEqual({ 'power cap': expect.closeTo(25, 6) });
    const parts = meanParts(runs);
    expect(parts.map(({ powerW }) => powerW)).toEqual(Array.from({ length: 10 }, () => expect.closeTo(150, 6)));
    expect([parts[0]?.throttledPercent, parts[9]?.throttledPercent]).toEqual([expect.closeTo(50, 6), 0]);
    expect([meanReasons([]), meanParts([])]).toEqual([{}, []]);
  });
});
