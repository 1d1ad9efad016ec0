/** How busy the GPU was while each round ran, one row a system and round, darker the busier. */
import { number } from '../plain.js';
import { medianOf, type View } from '../view.js';
import { short } from '../markup.js';
import { type CustomSeriesRenderItem, textAt } from './marks.js';
import { isDrawable, linear, type Scale } from './scale.js';
import type { Drawing } from './svg.js';
import { axisLook, fixed, MUTED, still } from './theme.js';

const ROW = 18;
const PLOT = { left: 180, right: 84, top: 4, bottom: 40 };
const WIDTH = 940;
const MOST_ROWS = 48;
const MOST_CELLS = 2_400;
const MOST_BINS = 120;
/** Percent; a level holds what is above the one before. */
export const LEVELS = [0, 20, 40, 60, 80, 100] as const;

interface Busy {
  name: string;
  /** Seconds and percent. */
  readings: [number, number][];
  /** Seconds for which a reading stands where the next one is late. */
  hold: number;
}

/** Neighbours of one level, drawn as one. */
interface Stretch {
  row: number;
  from: number;
  to: number;
  level: number;
  percent: number;
}

export interface Heat {
  drawing: Drawing;
  rows: { name: string; mean: number; median: number; most: number }[];
  leftOut: number;
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

function busyOf({ systems }: View): Busy[] {
  return systems.flatMap(({ name, rounds }) =>
    rounds.flatMap(({ sampler }, round) => {
      if (!sampler) return [];
      const readings = sampler.timeMs.flatMap((time, i): [number, number][] => {
        const percent = sampler.gpuPercent[i];
        const has = isDrawable(time) && time >= 0 && isDrawable(percent) && percent >= 0 && percent <= 100;
        return has ? [[time / 1_000, percent]] : [];
      });
      const title = rounds.length > 1 ? `${short(name, 16)}, round ${round + 1}` : short(name, 26);
      return readings.length > 1 ? [{ name: title, readings, hold: (3 * sampler.intervalMs) / 1_000 }] : [];
    }),
  );
}

const levelOf = (percent: number): number => LEVELS.findIndex((level) => percent <= level);

/** Of every bin the mean of its readings, or the last reading before it. */
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
    } else stretches.push({ row, from: at, to: at + 1, level, percent });
  }
  return stretches;
}

function renderer(stretches: readonly Stretch[], bin: number, { place }: Scale, rows: Heat['rows']) {
  const render: CustomSeriesRenderItem = ({ dataIndex }, api) => {
    const stretch = stretches[dataIndex];
    if (!stretch) {
      const row = dataIndex - stretches.length;
      const y = api.coord([0, row])[1] as number;
      return textAt(WIDTH - PLOT.right + 8, y, `mean ${number(Math.round(rows[row]?.mean ?? 0))} %`, { colour: MUTED });
    }
    const [x1 = 0, y = 0] = api.coord([place(stretch.from * bin), stretch.row]);
    const [x2 = 0] = api.coord([place(stretch.to * bin), stretch.row]);
    return {
      type: 'rect',
      shape: { x: x1, y: y - ROW / 2 + 1, width: x2 - x1, height: ROW - 2 },
      style: { fill: `var(--heat-${stretch.level})` },
    };
  };
  return render;
}

function axes(scale: Scale, rows: Heat['rows']) {
  return {
    grid: { ...fixed, ...PLOT },
    xAxis: {
      type: 'value' as const,
      ...axisLook,
      min: scale.min,
      max: scale.max,
      interval: scale.interval,
      splitLine: { show: false },
      axisLabel: { ...axisLook.axisLabel, formatter: scale.format },
      name: 's since the first reading of the round',
      nameLocation: 'middle' as const,
      nameGap: 26,
    },
    yAxis: {
      type: 'category' as const,
      ...axisLook,
      inverse: true,
      splitLine: { show: false },
      data: rows.map((_, i) => i),
      axisLabel: { ...axisLook.axisLabel, interval: 0, formatter: (_: string, i: number) => rows[i]?.name ?? '' },
    },
  };
}

/** Null where no round was sampled. */
export function heatOf(view: View): Heat | null {
  const all = busyOf(view);
  const busy = all.slice(0, MOST_ROWS);
  if (busy.length === 0) return null;
  const last = Math.max(...busy.map(({ readings }) => readings.reduce((most, [time]) => Math.max(most, time), 0)));
  if (last === 0) return null;
  const bin = last / Math.min(MOST_BINS, Math.floor(MOST_CELLS / busy.length)) + Number.EPSILON * last;
  const rows = busy.map(({ name, readings }) => {
    const values = readings.map(([, percent]) => percent);
    const most = values.reduce((high, value) => Math.max(high, value), 0);
    return { name, mean: mean(values), median: medianOf(values) ?? 0, most };
  });
  const stretches = busy.flatMap((one, row) => stretchesOf(one, row, bin));
  const scale = linear([last], { zero: true, ticks: 8 });
  const tips = stretches.map(({ row, from, to, percent }) => {
    const time = `${number(from * bin)} to ${number(to * bin)} s`;
    return `${rows[row]?.name ?? ''}, ${time}: ${number(Math.round(percent))} % busy`;
  });
  const cells = [
    ...stretches.map(({ from, row }) => [scale.place(from * bin), row]),
    ...rows.map((_, row) => [0, row]),
  ];
  return {
    rows,
    leftOut: all.length - busy.length,
    drawing: {
      size: { width: WIDTH, height: ROW * rows.length + PLOT.top + PLOT.bottom },
      label: `GPU utilisation over time. ${rows.map((row) => `${row.name}: mean ${number(row.mean)} %`).join('; ')}.`,
      tips: [tips],
      option: {
        ...axes(scale, rows),
        series: [{ type: 'custom', ...still, data: cells, renderItem: renderer(stretches, bin, scale, rows) }],
      },
    },
  };
}
