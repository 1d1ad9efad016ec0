/** How busy the GPU was during each round: one row per system and round; darker means busier. */
import { mean } from 'simple-statistics';
import { number } from '../../results/text/plain.js';
import { medianOf, type View } from '../../results/view.js';
import { evenly } from './evenly.js';
import { isDrawable, linear } from './axes.js';
import { boxes } from './marks.js';
import { rowAxes, stacked } from './panel.js';
import type { Drawing } from './svg.js';
import { AXIS, MUTED } from './theme.js';

const ROW = 18;
const WIDTH = 1_000;
/** Pixels for the title below the labels. */
const TITLE = 22;
const LONGEST_NAME = 300;
const MOST_ROWS = 48;
const MOST_CELLS = 2_400;
const MOST_BINS = 120;
/** Upper limits of the levels in per cent. */
export const LEVELS = [0, 20, 40, 60, 80, 100] as const;

/** Look of a stretch without a reading, unlike every level. */
export const NO_READING = { fill: AXIS, height: 2 } as const;

interface Busy {
  system: string;
  /** Number of the round, from 1; null if there is only one. */
  round: number | null;
  /** Readings as pairs of seconds and per cent. */
  readings: [number, number][];
  /** Seconds for which a reading counts if the next one is late. */
  hold: number;
}

/** Adjacent bins of one level, drawn as one. The level is null if there is no reading. */
interface Stretch {
  row: number;
  from: number;
  to: number;
  level: number | null;
  percent: number;
}

interface Heat {
  drawing: Drawing;
  /** Figures of every sampled round, drawn or not. */
  rounds: { name: string; mean: number; median: number; most: number }[];
  drawn: number;
}

function busyOf({ systems }: View): Busy[] {
  return systems.flatMap(({ name, rounds }) =>
    rounds.flatMap(({ sampler }, round) => {
      if (!sampler) return [];
      const readings = sampler.timeMs.flatMap((time, i): [number, number][] => {
        const percent = sampler.gpuPercent[i];
        const has = isDrawable(time) && time >= 0 && isDrawable(percent) && percent >= 0 && percent <= 100;
        return has ? [[time / 1_000, percent]] : [];
      });
      const which = rounds.length > 1 ? round + 1 : null;
      return readings.length > 1
        ? [{ system: name, round: which, readings, hold: (3 * sampler.intervalMs) / 1_000 }]
        : [];
    }),
  );
}

const named = (system: string, round: number | null): string => (round === null ? system : `${system}, round ${round}`);

/** Selects the same number of rounds for every system, spread over its time. */
function drawnOf(all: readonly Busy[]): Busy[] {
  const systems = [...new Set(all.map(({ system }) => system))];
  const each = Math.max(1, Math.floor(MOST_ROWS / systems.length));
  return systems.slice(0, MOST_ROWS).flatMap((name) =>
    evenly(
      all.filter(({ system }) => system === name),
      each,
    ),
  );
}

const levelOf = (percent: number): number => LEVELS.findIndex((level) => percent <= level);

/** Returns the mean of each bin's readings, or the last reading before the bin. */
function binned({ readings, hold }: Busy, bin: number): [at: number, percent: number][] {
  const bins = new Map<number, number[]>();
  for (const [time, percent] of readings) {
    const at = Math.floor(time / bin);
    const held = bins.get(at);
    if (held) held.push(percent);
    else bins.set(at, [percent]);
  }
  const known = [...bins].sort(([a], [b]) => a - b).map(([at, values]): [number, number] => [at, mean(values)]);
  return known.flatMap(([at, percent], i) => {
    const next = known[i + 1]?.[0] ?? at + 1;
    const bridged = (next - at - 1) * bin <= hold ? next - at : 1;
    return Array.from({ length: bridged }, (_, k): [number, number] => [at + k, percent]);
  });
}

function stretchesOf(busy: Busy, row: number, bin: number): Stretch[] {
  const stretches: Stretch[] = [];
  for (const [at, percent] of binned(busy, bin)) {
    const level = levelOf(percent);
    const before = stretches.at(-1);
    if (before && before.level === level && before.to === at) {
      before.percent = (before.percent * (at - before.from) + percent) / (at + 1 - before.from);
      before.to = at + 1;
      continue;
    }
    if (before && before.to < at) stretches.push({ row, from: before.to, to: at, level: null, percent: 0 });
    stretches.push({ row, from: at, to: at + 1, level, percent });
  }
  return stretches;
}

function roundOf({ system, round, readings }: Busy): Heat['rounds'][number] {
  const values = readings.map(([, percent]) => percent);
  const most = values.reduce((high, value) => Math.max(high, value), 0);
  return { name: named(system, round), mean: mean(values), median: medianOf(values) ?? 0, most };
}

/** Draws how busy the GPU was; null if no round was sampled. */
export function heatOf(view: View): Heat | null {
  const all = busyOf(view);
  const busy = drawnOf(all);
  const last = busy.flatMap(({ readings }) => readings).reduce((most, [time]) => Math.max(most, time), 0);
  if (last === 0) return null;
  const bin = last / Math.min(MOST_BINS, Math.floor(MOST_CELLS / busy.length)) + Number.EPSILON * last;
  const rows = busy.map(roundOf);
  const stretches = busy.flatMap((one, row) => stretchesOf(one, row, bin));
  const tips = stretches.map(({ row, from, to, level, percent }) => {
    const what = level === null ? 'no reading' : `${number(Math.round(percent))} % busy`;
    return `${rows[row]?.name ?? ''}, ${number(from * bin)} to ${number(to * bin)} s: ${what}`;
  });
  const axes = rowAxes(
    rows.map(({ name }) => name),
    rows.map((row) => `mean ${number(Math.round(row.mean))} %`),
    { xAxis: linear(8), row: ROW, longest: LONGEST_NAME, colour: () => MUTED },
  );
  const panel = {
    ...axes,
    xAxis: {
      ...axes.xAxis,
      name: 's since the first reading of the round',
      nameLocation: 'middle',
      nameGap: 26,
    } as const,
    height: axes.height + TITLE,
    label: rows
      .map((row) => `${row.name}: mean ${number(row.mean)} %`)
      .join('; ')
      .concat('.'),
    tips: [tips],
    series: [
      boxes(
        stretches.map(({ row, from, to, level }) => ({
          x: [from * bin, to * bin],
          y: [row, row],
          height: ROW - 2,
          fill: `var(--heat-${level ?? 0})`,
          ...(level === null && NO_READING),
        })),
      ),
    ],
  };
  return {
    rounds: all.map(roundOf),
    drawn: busy.length,
    drawing: stacked([panel], 'GPU utilisation over time.', WIDTH),
  };
}
