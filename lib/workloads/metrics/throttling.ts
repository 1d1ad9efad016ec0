/** How long the GPU lowered its clocks in a run, and its power, temperature and clock against time. */
import { mean } from 'simple-statistics';
import { slowdownsAmong } from '../../environment/event-reasons.js';
import type { GpuSample } from '../../monitor/sample.js';
import { meanReported, mostReported } from '../../monitor/timeline.js';
import { SHORTEST_READ_NS } from './energy.js';

/** A tenth of a run. Null for what NVML did not report in it. */
interface RunPart {
  fromS: number;
  toS: number;
  /** Mean of the readings. */
  powerW: number | null;
  /** Highest reading. */
  temperatureC: number | null;
  /** Mean of the readings. */
  smClockMhz: number | null;
  /** Per cent of the part's time in which the GPU lowered its clocks. */
  throttledPercent: number | null;
}

export type Throttling =
  | { percent: number; /** Per cent of the run's time, by reason. */ reasons: Record<string, number>; parts: RunPart[] }
  | { missing: string };

const PARTS = 10;
/** Least part of the run's time for which the reasons must be known. */
const LEAST_KNOWN = 0.8;

type Reading = Pick<GpuSample, 'monotonicNs' | 'powerW' | 'temperatureC' | 'smClockMhz' | 'clockReasons'>;

/** A reading and the time for which it stands: until the next one. */
interface Stretch {
  reading: Reading;
  fromNs: number;
  toNs: number;
}

/**
 * Computes the throttling of a run. `samples` are those within the run, in the order of time, taken every `intervalMs`.
 * Times are of CLOCK_MONOTONIC_RAW. A reading stands for the time until the next one, but not for a gap of more than
 * two intervals.
 */
export function throttlingOf(
  samples: readonly Reading[],
  { fromNs, toNs, intervalMs }: { fromNs: number; toNs: number; intervalMs: number },
): Throttling {
  if (toNs - fromNs < SHORTEST_READ_NS)
    return { missing: `a run of less than ${SHORTEST_READ_NS / 1e9} s has too few readings of the clocks` };
  const longestNs = 2e6 * intervalMs;
  const stretches = samples.map((reading, i): Stretch => {
    const begin = i === 0 ? Math.max(fromNs, reading.monotonicNs - longestNs) : reading.monotonicNs;
    const next = samples[i + 1]?.monotonicNs ?? toNs;
    return { reading, fromNs: begin, toNs: Math.min(next, reading.monotonicNs + longestNs) };
  });
  const known = stretches.filter(({ reading }) => reading.clockReasons !== null);
  if (known.length === 0) return { missing: 'NVML gives no reasons for the clocks of this GPU' };
  if (lengthOf(known) < LEAST_KNOWN * (toNs - fromNs))
    return { missing: 'the GPU was read too seldom: shorten interval of monitor' };
  const names = slowdownsAmong(known.flatMap(({ reading }) => reading.clockReasons ?? []));
  const percentOf = (name: string) => percentWith(known, (reasons) => reasons.includes(name));
  const step = (toNs - fromNs) / PARTS;
  return {
    percent: percentWith(known, isThrottled),
    reasons: Object.fromEntries(names.map((name) => [name, percentOf(name)])),
    parts: Array.from({ length: PARTS }, (_, i) =>
      partOf(stretches, { atNs: fromNs, fromNs: fromNs + i * step, toNs: fromNs + (i + 1) * step }),
    ),
  };
}

/** Means over runs, in per cent; a run without the reason counts as 0. */
export function meanReasons(runs: readonly Throttling[]): Record<string, number> {
  const all = runs.flatMap((run) => ('reasons' in run ? [run.reasons] : []));
  const names = slowdownsAmong(all.flatMap((reasons) => Object.keys(reasons)));
  return Object.fromEntries(names.map((name) => [name, mean(all.map((reasons) => reasons[name] ?? 0))]));
}

/** Means over runs, of each tenth. */
export function meanParts(runs: readonly Throttling[]): RunPart[] {
  const all = runs.flatMap((run) => ('parts' in run ? [run.parts] : []));
  const [first = []] = all;
  return first.map((_, i) => {
    const same = all.flatMap((parts) => parts[i] ?? []);
    return {
      fromS: mean(same.map(({ fromS }) => fromS)),
      toS: mean(same.map(({ toS }) => toS)),
      powerW: meanReported(same.map(({ powerW }) => powerW)),
      temperatureC: meanReported(same.map(({ temperatureC }) => temperatureC)),
      smClockMhz: meanReported(same.map(({ smClockMhz }) => smClockMhz)),
      throttledPercent: meanReported(same.map(({ throttledPercent }) => throttledPercent)),
    };
  });
}

const isThrottled = (reasons: readonly string[]): boolean => slowdownsAmong(reasons).length > 0;

const lengthOf = (stretches: readonly Stretch[]): number =>
  stretches.reduce((sum, { fromNs, toNs }) => sum + toNs - fromNs, 0);

const percentWith = (known: readonly Stretch[], has: (reasons: readonly string[]) => boolean): number =>
  (100 * lengthOf(known.filter(({ reading }) => has(reading.clockReasons ?? [])))) / lengthOf(known);

function partOf(stretches: readonly Stretch[], part: { atNs: number; fromNs: number; toNs: number }): RunPart {
  const { atNs, fromNs, toNs } = part;
  const cut = stretches
    .map((each) => ({ ...each, fromNs: Math.max(fromNs, each.fromNs), toNs: Math.min(toNs, each.toNs) }))
    .filter((each) => each.toNs > each.fromNs);
  const known = cut.filter(({ reading }) => reading.clockReasons !== null);
  const readings = cut.map(({ reading }) => reading);
  return {
    fromS: (fromNs - atNs) / 1e9,
    toS: (toNs - atNs) / 1e9,
    powerW: meanReported(readings.map(({ powerW }) => powerW)),
    temperatureC: mostReported(readings.map(({ temperatureC }) => temperatureC)),
    smClockMhz: meanReported(readings.map(({ smClockMhz }) => smClockMhz)),
    throttledPercent: known.length === 0 ? null : percentWith(known, isThrottled),
  };
}
