/** A timeline as a document keeps it: means that a chart can show, and what was seen in each phase. */
import { mean } from 'simple-statistics';
import * as v from 'valibot';
import { grouped } from '../results/text/grouped.js';
import {
  type MonitorTimeline,
  phaseSummaries,
  type PhaseSummary,
  pointOf,
  secondsPerPoint,
  type TimelineReading,
  timelineReadings,
  type TimelineSample,
} from './timeline.js';

/** Checked, because documents may come from anywhere. */
const MOST_STORED = 1_000;
const finite = v.pipe(v.number(), v.finite());
const optional = v.nullable(finite);
const column = v.pipe(v.array(optional), v.maxLength(MOST_STORED));
const positive = v.pipe(finite, v.gtValue(0));

const storedSchema = v.pipe(
  v.object({
    gpu: finite,
    intervalMs: positive,
    sampledEveryMs: positive,
    timeS: v.pipe(v.array(finite), v.maxLength(MOST_STORED)),
    gpuPercent: column,
    memoryUsedMib: column,
    powerW: column,
    temperatureC: column,
    smClockMhz: column,
    memoryClockMhz: column,
    phases: v.pipe(
      v.array(
        v.strictObject({
          name: v.string(),
          fromS: finite,
          toS: finite,
          gpu: finite,
          samples: finite,
          gpuPercent: optional,
          memoryMostMib: optional,
          powerW: optional,
          energyJ: optional,
          hottestC: optional,
        }),
      ),
      v.maxLength(20),
    ),
  }),
  v.check((found) => timelineReadings.every((name) => found[name].length === found.timeS.length)),
);
export type StoredTimeline = v.InferOutput<typeof storedSchema>;

const rounded = (value: number): number => Math.round(1e3 * value) / 1e3;

const roundedPhase = (phase: PhaseSummary): PhaseSummary =>
  Object.fromEntries(
    Object.entries(phase).map(([key, value]: [string, unknown]) => [
      key,
      typeof value === 'number' ? rounded(value) : value,
    ]),
  ) as unknown as PhaseSummary;

function meanOf(samples: readonly TimelineSample[], name: TimelineReading): number | null {
  const values = samples.map((sample) => sample[name]).filter((value) => value !== null);
  return values.length === 0 ? null : rounded(mean(values));
}

/**
 * The timeline of one GPU. Samples outside the phases are only used for the energy at their ends. Null if the phases have no sample.
 */
export function storedTimeline(timeline: MonitorTimeline): StoredTimeline | null {
  const { phases, intervalMs } = timeline;
  const [first, last] = [phases[0], phases.at(-1)];
  if (!first || !last) return null;
  const samples = timeline.samples.filter(({ timeS }) => timeS >= first.fromS && timeS <= last.toS);
  const [sample] = samples;
  if (!sample) return null;
  const seconds = secondsPerPoint({ samples, intervalMs });
  const points = [...grouped(samples, ({ timeS }) => pointOf(timeS, seconds)).values()];
  const columns = timelineReadings.map((name) => [name, points.map((point) => meanOf(point, name))] as const);
  return {
    gpu: sample.gpu,
    intervalMs: 1_000 * seconds,
    sampledEveryMs: intervalMs,
    timeS: points.map((point) => rounded(mean(point.map(({ timeS }) => timeS)))),
    ...(Object.fromEntries(columns) as Record<TimelineReading, (number | null)[]>),
    phases: phaseSummaries(timeline).map(roundedPhase),
  };
}

/** Null if it is no timeline. */
export function timelineIn(found: unknown): MonitorTimeline | null {
  const { success, output } = v.safeParse(storedSchema, found);
  if (!success) return null;
  const { gpu, intervalMs, sampledEveryMs, timeS: times, phases } = output;
  const at = (index: number) =>
    Object.fromEntries(timelineReadings.map((name) => [name, output[name][index] ?? null])) as Record<
      TimelineReading,
      number | null
    >;
  return {
    samples: times.map((timeS, index) => ({ timeS, gpu, energyJ: null, ...at(index) })),
    intervalMs,
    sampledEveryMs,
    phases,
    summaries: phases,
  };
}
