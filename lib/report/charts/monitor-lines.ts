/** Utilisation, memory and power over time: one line per GPU, with the program's phases in the background. */
import { mean } from 'simple-statistics';
import type { GpuSample } from '../../monitor/sample.js';
import { grouped } from '../../results/grouped.js';
import { byGpu, type MonitorTimeline } from '../monitor-timeline.js';
import type { Lines, Point } from './lines.js';

/** Points that a drawing of this width can show. */
const MOST_POINTS = 240;
/** How many points may be missing before a line is interrupted. */
const PATIENCE = 3;

interface Quantity {
  title: string;
  y: string;
  reading: (sample: GpuSample) => number | null;
  upTo?: number;
}

const quantities: readonly Quantity[] = [
  { title: 'GPU utilisation', y: '% of the time', reading: ({ gpuPercent }) => gpuPercent, upTo: 100 },
  { title: 'Memory used', y: 'MiB', reading: ({ memoryUsedMib }) => memoryUsedMib },
  { title: 'Power', y: 'W', reading: ({ powerW }) => powerW },
];

/** Seconds per point: neighbouring samples are averaged if there are more than a drawing can show. */
export function secondsPerPoint({ samples, intervalMs }: MonitorTimeline): number {
  const interval = intervalMs / 1_000;
  const span = (samples.at(-1)?.timeS ?? 0) - (samples[0]?.timeS ?? 0);
  return interval * Math.max(1, Math.ceil(span / interval / MOST_POINTS));
}

function pointsOf(samples: readonly GpuSample[], reading: Quantity['reading'], seconds: number): Point[] {
  const stretches = grouped(samples, ({ timeS }) => Math.floor(timeS / seconds));
  return [...stretches.values()].flatMap((stretch): Point[] => {
    const values = stretch.map(reading).filter((value) => value !== null);
    return values.length === 0 ? [] : [[mean(stretch.map(({ timeS }) => timeS)), mean(values)]];
  });
}

/** Leaves out charts for which NVML reported nothing. */
export function monitorLines(timeline: MonitorTimeline): Lines[] {
  const seconds = secondsPerPoint(timeline);
  const gpus = [...byGpu(timeline.samples)].sort(([a], [b]) => a - b);
  return quantities
    .map(({ title, y, reading, upTo }) => ({
      ...{ title, x: 's', y },
      ...(upTo !== undefined && { upTo }),
      gapAfter: PATIENCE * seconds,
      bands: timeline.phases.map(({ name, fromS, toS }) => ({ name, from: fromS, to: toS })),
      series: gpus.map(([gpu, samples], look) => ({
        name: `GPU ${gpu}`,
        look,
        points: pointsOf(samples, reading, seconds),
      })),
    }))
    .filter(({ series }) => series.some(({ points }) => points.length > 0));
}
