/** The energy of the whole GPU over a run: by NVML's counter, else from its power. */
import type { GpuSample } from '../../monitor/sample.js';

export type Energy = { joules: number; by: 'counter' | 'power' } | { missing: string };

/**
 * Shortest run, in ns, that has enough readings: NVML renews them about every 0.1 s, and power is a mean over up to 1
 * s.
 */
export const SHORTEST_READ_NS = 2e9;
/** How far the first and the last reading may be from the ends of the run, as a part of its time. */
const FARTHEST = 0.2;

type Reading = Pick<GpuSample, 'monotonicNs' | 'energyJ' | 'powerW'>;

/**
 * Computes the energy of a run. `samples` are in the order of time, with those just before and after the run. Times are
 * of CLOCK_MONOTONIC_RAW.
 */
export function energyOf(samples: readonly Reading[], fromNs: number, toNs: number): Energy {
  if (toNs - fromNs < SHORTEST_READ_NS)
    return { missing: `a run of less than ${SHORTEST_READ_NS / 1e9} s has too few readings of the power` };
  const counted = byCounter(samples, fromNs, toNs);
  if (counted !== null) return { joules: counted, by: 'counter' };
  const integrated = byPower(samples, fromNs, toNs);
  if (integrated !== null) return { joules: integrated, by: 'power' };
  return {
    missing: samples.some(({ powerW, energyJ }) => powerW !== null || energyJ !== null)
      ? 'the GPU was read too seldom: shorten interval of monitor'
      : 'NVML gives neither energy nor power of this GPU',
  };
}

type Point = readonly [atNs: number, value: number];

const pointsOf = (samples: readonly Reading[], reading: 'energyJ' | 'powerW'): Point[] =>
  samples.flatMap((sample) => {
    const value = sample[reading];
    return value === null ? [] : [[sample.monotonicNs, value] as const];
  });

/** Whether there are at least two points, the first and the last of which are near the ends of the run. */
function reaches(points: readonly Point[], fromNs: number, toNs: number): boolean {
  const [first, last] = [points[0], points.at(-1)];
  if (points.length < 2 || !first || !last) return false;
  const far = FARTHEST * (toNs - fromNs);
  return first[0] <= fromNs + far && last[0] >= toNs - far;
}

function byCounter(samples: readonly Reading[], fromNs: number, toNs: number): number | null {
  const points = pointsOf(samples, 'energyJ');
  // A counter that decreased was reset.
  const isReset = points.some(([, value], i) => i > 0 && value < (points[i - 1] as Point)[1]);
  if (isReset || !reaches(points, fromNs, toNs)) return null;
  return counterAt(points, toNs) - counterAt(points, fromNs);
}

/**
 * Interpolates the counter between the two points around a time; outside of all points, extrapolates from the two
 * nearest.
 */
function counterAt(points: readonly Point[], atNs: number): number {
  const above = points.findIndex(([ns]) => ns >= atNs);
  const i = Math.max(1, above < 0 ? points.length - 1 : above);
  const [[fromNs, from], [toNs, to]] = [points[i - 1] as Point, points[i] as Point];
  return from + ((atNs - fromNs) / (toNs - fromNs)) * (to - from);
}

/** Integrates the power. The first and the last reading within the run stand for what lies before and after them. */
function byPower(samples: readonly Reading[], fromNs: number, toNs: number): number | null {
  const points = pointsOf(samples, 'powerW').filter(([ns]) => ns >= fromNs && ns <= toNs);
  if (!reaches(points, fromNs, toNs)) return null;
  const [first, last] = [points[0] as Point, points.at(-1) as Point];
  let wattNs = first[1] * (first[0] - fromNs) + last[1] * (toNs - last[0]);
  for (const [i, [ns, watts]] of points.slice(1).entries()) {
    const [beforeNs, before] = points[i] as Point;
    wattNs += ((before + watts) / 2) * (ns - beforeNs);
  }
  return wattNs / 1e9;
}
