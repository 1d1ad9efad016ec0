/** Charts with one row per name and values to the right, and how they are combined into one drawing. */
import { categories, linear } from './axes.js';
import type { ChartOption } from './echarts.js';
import type { Drawing } from './svg.js';
import { LINE, wrappedNames } from './text.js';
import { axisLook, contained } from './theme.js';

const WIDTH = 360;
const LONGEST_NAME = 150;
const ROW = 28;
const LABELS = 24;
const GAP = 8;
/** Pixels between the names of two rows. */
const BETWEEN = 6;

type Many<T> = T extends readonly (infer One)[] ? One : T;
type Part<Key extends keyof ChartOption> = Many<NonNullable<ChartOption[Key]>>;

export interface Panel {
  height: number;
  label: string;
  /** Text below the chart. */
  note?: string;
  grid: Part<'grid'>;
  xAxis: Part<'xAxis'>;
  /** Axes with names on the left and texts on the right. */
  yAxis: [Part<'yAxis'>, Part<'yAxis'>];
  series: Part<'series'>[];
  /** Texts shown on hover, one list per series. */
  tips: string[][];
}

type Axes = Pick<Panel, 'height' | 'grid' | 'xAxis' | 'yAxis'>;

interface Look {
  xAxis?: Part<'xAxis'>;
  /** Height in pixels of a row whose name has one line. */
  row?: number;
  longest?: number;
  /** The colour of the text beside a row. */
  colour?: (row: number) => string;
}

/** The axes of a chart with a row per name; `beside` has the text on the right of each. */
export function rowAxes(names: readonly string[], beside: readonly string[], look: Look = {}): Axes {
  const { xAxis = linear(3), row = ROW, longest = LONGEST_NAME, colour } = look;
  const { texts, most } = wrappedNames(names, longest);
  const height = Math.max(row, LINE * most + BETWEEN) * names.length + LABELS;
  const [left, right] = [categories(texts), categories(beside, colour)];
  return {
    height,
    grid: { ...contained, left: 0, right: 0, height },
    xAxis: { ...xAxis, axisLine: { show: false } } as Axes['xAxis'],
    yAxis: [
      { ...left, inverse: true, axisLine: axisLook.axisLine },
      { ...right, inverse: true, position: 'right' },
    ],
  };
}

/** Stacks panels in one drawing, because ECharts has a fixed cost per drawing. */
export function stacked(panels: readonly Panel[], label: string, width = WIDTH): Drawing {
  const top = (index: number) => panels.slice(0, index).reduce((sum, { height }) => sum + height + GAP, 0);
  return {
    size: { width, height: top(panels.length) - GAP },
    label: [label, ...panels.map((panel) => panel.label)].join(' '),
    tips: panels.flatMap(({ tips }) => tips),
    option: {
      grid: panels.map(({ grid }, i) => ({ ...grid, top: top(i) })),
      xAxis: panels.map(({ xAxis }, gridIndex) => ({ ...xAxis, gridIndex })),
      yAxis: panels.flatMap(({ yAxis }, gridIndex) => yAxis.map((axis) => ({ ...axis, gridIndex }))),
      series: panels.flatMap(({ series }, i) => series.map((one) => ({ ...one, xAxisIndex: i, yAxisIndex: 2 * i }))),
    } as ChartOption,
  };
}
