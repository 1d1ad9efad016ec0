/** GPU samples over the phases of a program: the data of charts and tables. */
import { mean } from 'simple-statistics';
import { grouped } from '../results/text/grouped.js';
import type { GpuSample } from './sample.js';

/** A named time range, such as start, ready, load or end. In seconds of the samples' `timeS`. */
interface MonitorPhase {
  name: string;
  fromS: number;
  toS: number;
}

/** What is shown of a sample. */
export type TimelineSample = Pick<GpuSample, 'timeS' | 'gpu' | TimelineReading | 'energyJ'>;
export const timelineReadings = [
  'gpuPercent',
  'memoryUsedMib',
  'powerW',
  'temperatureC',
  'smClockMhz',
  'memoryClockMhz',
] as const;
export type TimelineReading = (typeof timelineReadings)[number];

export interface MonitorTimeline {
  /** Samples in the order of time. */
  samples: readonly TimelineSample[];
  /** Time between these samples. */
  intervalMs: number;
  /** Time between the monitor's own samples, if each of these is the mean of several. */
  sampledEveryMs?: number;
  phases: readonly MonitorPhase[];
  /** The number of the monitor's own samples if these are means. Default: the number of these. */
  summaries?: readonly PhaseSummary[];
}

/** One GPU in one phase. Null for values that NVML did not report. */
export interface PhaseSummary extends MonitorPhase {
  /** NVML's index. */
  gpu: number;
  samples: number;
  gpuPercent: number | null;
  memoryMostMib: number | null;
  powerW: number | null;
  /** Energy by the counter, interpolated at the ends of the phase. */
  energyJ: number | null;
  hottestC: number | null;
}

type Reported = readonly (number | null)[];

const numbersIn = (values: Reported): number[] => values.filter((value) => value !== null);

/** Null if NVML reported none of the values. */
export function meanReported(values: Reported): number | null {
  const numbers = numbersIn(values);
  return numbers.length === 0 ? null : mean(numbers);
}

/** Null if NVML reported none of the values. */
export function mostReported(values: Reported): number | null {
  const numbers = numbersIn(values);
  return numbers.length === 0 ? null : numbers.reduce((most, value) => Math.max(most, value));
}

export const byGpu = (samples: readonly TimelineSample[]): Map<number, TimelineSample[]> =>
  grouped(samples, ({ gpu }) => gpu);

/** Null if the counter was not read before and after. */
function energyAt(samples: readonly TimelineSample[], timeS: number): number | null {
  const known = samples.filter((sample): sample is TimelineSample & { energyJ: number } => sample.energyJ !== null);
  const [before, after] = [known.findLast((each) => each.timeS <= timeS), known.find((each) => each.timeS >= timeS)];
  if (!before || !after) return null;
  const span = after.timeS - before.timeS;
  return before.energyJ + (span === 0 ? 0 : ((timeS - before.timeS) / span) * (after.energyJ - before.energyJ));
}

function energyOf(samples: readonly TimelineSample[], { fromS, toS }: MonitorPhase): number | null {
  const [from, to] = [energyAt(samples, fromS), energyAt(samples, toS)];
  return from === null || to === null ? null : to - from;
}

/** A row for each GPU and phase, GPUs in the order of their indexes. */
export function phaseSummaries({ samples, phases, summaries }: MonitorTimeline): readonly PhaseSummary[] {
  if (summaries) return summaries;
  const gpus = [...byGpu(samples)].sort(([a], [b]) => a - b);
  return gpus.flatMap(([gpu, own]) =>
    phases.map((phase) => {
      const during = own.filter(({ timeS }) => timeS >= phase.fromS && timeS < phase.toS);
      return {
        ...phase,
        gpu,
        samples: during.length,
        gpuPercent: meanReported(during.map(({ gpuPercent }) => gpuPercent)),
        memoryMostMib: mostReported(during.map(({ memoryUsedMib }) => memoryUsedMib)),
        powerW: meanReported(during.map(({ powerW }) => powerW)),
        energyJ: energyOf(own, phase),
        hottestC: mostReported(during.map(({ temperatureC }) => temperatureC)),
      };
    }),
  );
}

/** Points that a chart can show. */
const MOST_POINTS = 240;

/** The width of a point in seconds. If there are more samples than a chart can show, several become one point, their mean. */
export function secondsPerPoint({ samples, intervalMs }: Pick<MonitorTimeline, 'samples' | 'intervalMs'>): number {
  const interval = intervalMs / 1_000;
  const span = (samples.at(-1)?.timeS ?? 0) - (samples[0]?.timeS ?? 0);
  return interval * Math.max(1, Math.ceil(span / interval / MOST_POINTS));
}

/** Which point a sample belongs to. */
export const pointOf = (timeS: number, seconds: number): number => Math.floor(timeS / seconds);
