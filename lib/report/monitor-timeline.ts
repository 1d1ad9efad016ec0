/** GPU samples over the phases of a program: the data of charts and tables. */
import { mean } from 'simple-statistics';
import type { GpuSample } from '../monitor/sample.js';
import { grouped } from '../results/grouped.js';

/** A named time range, such as start, ready, load or end. In seconds of the samples' `timeS`. */
export interface MonitorPhase {
  name: string;
  fromS: number;
  toS: number;
}

export interface MonitorTimeline {
  /** In chronological order. */
  samples: readonly GpuSample[];
  intervalMs: number;
  phases: readonly MonitorPhase[];
}

/** One GPU in one phase. Null for values that NVML did not report. */
export interface PhaseSummary extends MonitorPhase {
  /** NVML's index. */
  gpu: number;
  samples: number;
  gpuPercent: number | null;
  memoryMostMib: number | null;
  powerW: number | null;
  /** From the counter, interpolated at the ends of the phase. */
  energyJ: number | null;
  hottestC: number | null;
}

type Reading = (sample: GpuSample) => number | null;

export const readingsOf = (samples: readonly GpuSample[], reading: Reading): number[] =>
  samples.map(reading).filter((value) => value !== null);

const meanOf = (values: readonly number[]): number | null => (values.length === 0 ? null : mean([...values]));
const mostOf = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((most, value) => Math.max(most, value));

export const byGpu = (samples: readonly GpuSample[]): Map<number, GpuSample[]> => grouped(samples, ({ gpu }) => gpu);

/** Null unless the counter was read before and after. */
function energyAt(samples: readonly GpuSample[], timeS: number): number | null {
  const known = samples.filter((sample): sample is GpuSample & { energyJ: number } => sample.energyJ !== null);
  const [before, after] = [known.findLast((each) => each.timeS <= timeS), known.find((each) => each.timeS >= timeS)];
  if (!before || !after) return null;
  const span = after.timeS - before.timeS;
  return before.energyJ + (span === 0 ? 0 : ((timeS - before.timeS) / span) * (after.energyJ - before.energyJ));
}

function energyOf(samples: readonly GpuSample[], { fromS, toS }: MonitorPhase): number | null {
  const [from, to] = [energyAt(samples, fromS), energyAt(samples, toS)];
  return from === null || to === null ? null : to - from;
}

/** One row per GPU and phase, ordered by GPU index. */
export function phaseSummaries({ samples, phases }: MonitorTimeline): PhaseSummary[] {
  const gpus = [...byGpu(samples)].sort(([a], [b]) => a - b);
  return gpus.flatMap(([gpu, own]) =>
    phases.map((phase) => {
      const during = own.filter(({ timeS }) => timeS >= phase.fromS && timeS < phase.toS);
      return {
        ...phase,
        gpu,
        samples: during.length,
        gpuPercent: meanOf(readingsOf(during, ({ gpuPercent }) => gpuPercent)),
        memoryMostMib: mostOf(readingsOf(during, ({ memoryUsedMib }) => memoryUsedMib)),
        powerW: meanOf(readingsOf(during, ({ powerW }) => powerW)),
        energyJ: energyOf(own, phase),
        hottestC: mostOf(readingsOf(during, ({ temperatureC }) => temperatureC)),
      };
    }),
  );
}

/** Headings of their table; numbers start with the third column. */
export const phaseHeadings = [
  'GPU',
  'Phase',
  'From s',
  'To s',
  'Samples',
  'GPU % (mean)',
  'Memory MiB (most)',
  'Power W (mean)',
  'Energy J',
  '°C (most)',
] as const;

export const phaseFigures = (row: PhaseSummary): (number | null)[] => [
  ...[row.fromS, row.toS, row.samples],
  ...[row.gpuPercent, row.memoryMostMib, row.powerW, row.energyJ, row.hottestC],
];
