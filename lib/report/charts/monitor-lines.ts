/** Charts of the monitor's samples over time: one line per GPU, with the phases of the program in the background. */
import { mean } from 'simple-statistics';
import { byGpu, type MonitorTimeline, pointOf, secondsPerPoint, type TimelineSample } from '../../monitor/timeline.js';
import { grouped } from '../../results/text/grouped.js';
import type { Lines } from './lines.js';
import type { Point } from './marks.js';

/** Number of missing points from which on a line is interrupted. */
const PATIENCE = 3;

interface Quantity {
  title: string;
  y: string;
  reading: (sample: TimelineSample) => number | null;
  upTo?: number;
}

const quantities: readonly Quantity[] = [
  { title: 'GPU utilisation', y: '% of the time', reading: ({ gpuPercent }) => gpuPercent, upTo: 100 },
  { title: 'Memory used', y: 'MiB', reading: ({ memoryUsedMib }) => memoryUsedMib },
  { title: 'Power', y: 'W', reading: ({ powerW }) => powerW },
  { title: 'Temperature', y: '°C', reading: ({ temperatureC }) => temperatureC },
  { title: 'SM clock', y: 'MHz', reading: ({ smClockMhz }) => smClockMhz },
  { title: 'Memory clock', y: 'MHz', reading: ({ memoryClockMhz }) => memoryClockMhz },
];

function pointsOf(samples: readonly TimelineSample[], reading: Quantity['reading'], seconds: number): Point[] {
  const stretches = grouped(samples, ({ timeS }) => pointOf(timeS, seconds));
  return [...stretches.values()].flatMap((stretch): Point[] => {
    const values = stretch.map(reading).filter((value) => value !== null);
    return values.length === 0 ? [] : [[mean(stretch.map(({ timeS }) => timeS)), mean(values)]];
  });
}

/** Makes the charts, without those for which NVML reported nothing. */
export function monitorLines(timeline: MonitorTimeline): Lines[] {
  const seconds = secondsPerPoint(timeline);
  const gpus = [...byGpu(timeline.samples)].sort(([a], [b]) => a - b);
  return quantities
    .map(({ title, y, reading, upTo }) => ({
      title,
      x: 's',
      y,
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
