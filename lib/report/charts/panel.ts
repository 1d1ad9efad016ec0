/**
 * Charts with one row per system and values to the right: the common parts of bars and boxes, and how they are combined
 * into one drawing.
 */
import type { ChartOption } from './echarts.js';
import { type Scale, ticksOf } from './scale.js';
import type { Drawing } from './svg.js';
import { asDrawn, fittedNames, widest } from './text.js';
import { axisLook, fixed, TEXT } from './theme.js';

export const PANEL_WIDTH = 360;
const LONGEST_NAME = 150;
/** Space between a name and the axis. */
const NAME_GAP = 10;
const ROW = 28;
const LABELS = 24;
const TOP = 4;
const GAP = 8;

type Many<T> = T extends readonly (infer One)[] ? One : T;
type Part<Key extends 'grid' | 'xAxis' | 'yAxis'> = Many<NonNullable<ChartOption[Key]>>;
type Series = Many<NonNullable<ChartOption['series']>>;

export interface Panel {
  height: number;
  label: string;
  /** Text below the chart. */
  note?: string;
  axes: { grid: Part<'grid'>; xAxis: Part<'xAxis'>; yAxis: Part<'yAxis'> };
  series: Series[];
  /** One list per series. */
  tips: string[][];
}

export const panelHeight = (names: readonly string[]): number => ROW * names.length + LABELS + TOP;

/** `beside`: the width of text beside the plot. */
export function systemsAxes(names: readonly string[], scale: Scale, beside = 0): Panel['axes'] {
  const { min, max, interval, format } = scale;
  const shown = fittedNames(names, LONGEST_NAME);
  const lastTick = widest(ticksOf(scale).slice(-1));
  return {
    grid: {
      ...fixed,
      left: widest(shown) + NAME_GAP,
      right: Math.max(beside, lastTick / 2) + 4,
      top: TOP,
      height: ROW * names.length,
    },
    xAxis: {
      type: 'value',
      ...axisLook,
      min,
      max,
      interval,
      axisLine: { show: false },
      axisLabel: { ...axisLook.axisLabel, formatter: format, hideOverlap: true },
    },
    yAxis: {
      type: 'category',
      ...axisLook,
      splitLine: { show: false },
      inverse: true,
      // Names are never passed to ECharts as data: it would expand templates and merge duplicates.
      data: names.map((_, i) => i),
      axisLabel: {
        ...axisLook.axisLabel,
        color: TEXT,
        interval: 0,
        formatter: (_: string, i: number) => asDrawn(shown[i] ?? ''),
      },
    },
  };
}

/** Stacks them in one drawing, because ECharts has a fixed cost per drawing. */
export function stacked(panels: readonly Panel[], label: string): Drawing {
  const top = (index: number) => panels.slice(0, index).reduce((sum, { height }) => sum + height + GAP, 0);
  return {
    size: { width: PANEL_WIDTH, height: top(panels.length) - GAP },
    label: [label, ...panels.map((panel) => panel.label)].join(' '),
    tips: panels.flatMap(({ tips }) => tips),
    option: {
      grid: panels.map(({ axes }, i) => ({ ...axes.grid, top: top(i) + TOP })),
      xAxis: panels.map(({ axes }, gridIndex) => ({ ...axes.xAxis, gridIndex })),
      yAxis: panels.map(({ axes }, gridIndex) => ({ ...axes.yAxis, gridIndex })),
      series: panels.flatMap(({ series }, i) => series.map((one) => ({ ...one, xAxisIndex: i, yAxisIndex: i }))),
    } as ChartOption,
  };
}
