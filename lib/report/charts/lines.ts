/** Lines of several series over a common axis. */
import type { CustomSeriesOption, LineSeriesOption } from 'echarts/charts';
import type { AxisScales } from '../../metrics/core/metric.js';
import { number } from '../../results/text/plain.js';
import { axisOf, hasPlace, isDrawable, type Kind, valueText } from './axes.js';
import { evenly } from './evenly.js';
import { boxes, type Point } from './marks.js';
import type { Drawing } from './svg.js';
import { axisLook, BAND, contained, LEVEL_DASH, LINE_WIDTH, lookOf, stateless, SURFACE, TEXT } from './theme.js';

const MOST_SERIES = 16;
const MOST_POINTS = 240;
export const SIZE = { width: 360, height: 240 } as const;

/** y = a + b·x, fitted by a metric. */
export interface Fit {
  a: number;
  b: number;
}

/** A straight line that nobody measured. */
export interface Reference extends Fit {
  name: string;
}

export interface Series {
  name: string;
  /** Index of the system, so that it looks the same in every chart. */
  look: number;
  points: Point[];
  /** Straight line that is drawn in place of lines between the points. */
  fit?: Fit | null;
}

interface Band {
  name: string;
  from: number;
  to: number;
}

export interface Lines {
  title: string;
  x: string;
  y: string;
  scales?: AxisScales;
  series: Series[];
  /** Reference values, drawn as lines across the chart. */
  levels?: { name: string; y: number }[];
  /** Reference lines that rise or fall; the axis has room for them. */
  references?: Reference[];
  /** Named ranges of the x axis, drawn behind the lines. */
  bands?: Band[];
  /** Distance between points from which on a line is interrupted, because nothing was measured in between. */
  gapAfter?: number;
  /** Minimum upper end of the y axis, so that drawings are comparable. */
  upTo?: number;
  /** Points without lines, and what is drawn around them. The axes need not begin at 0. */
  scattered?: (CustomSeriesOption | LineSeriesOption)[];
}

/** The points in order, without those that cannot be drawn, and no more than a line of this width can show. */
const drawable = (points: readonly Point[], scales: AxisScales = {}): Point[] =>
  evenly(
    points.filter(([x, y]) => hasPlace(x, scales.x) && hasPlace(y, scales.y)).sort(([a], [b]) => a - b),
    MOST_POINTS,
  );

export interface Shown {
  series: Series[];
  /** Names of series that did not fit. */
  leftOut: string[];
}

/** Selects the series to draw, once, so that legend and drawing agree on each series' look. */
export function shownOf({ series, scales }: Lines): Shown {
  const all = series
    .map((one) => ({ ...one, points: drawable(one.points, scales) }))
    .filter(({ points }) => points.length > 0);
  return { series: all.slice(0, MOST_SERIES), leftOut: all.slice(MOST_SERIES).map(({ name }) => name) };
}

export interface Rows {
  /** Names of the columns. */
  series: string[];
  rows: { x: number; ys: (number | null)[] }[];
}

/** The data of all lines, including those that are not drawn. */
export function rowsOf({ series }: Lines): Rows {
  const columns = series
    .filter(({ points }) => points.length > 0)
    .map(({ name, points }) => ({ name, at: new Map(points) }));
  const xs = new Set(columns.flatMap(({ at }) => [...at.keys()]));
  return {
    series: columns.map(({ name }) => name),
    rows: [...xs].sort((a, b) => a - b).map((x) => ({ x, ys: columns.map(({ at }) => at.get(x) ?? null) })),
  };
}

const described = ({ name, points }: Series, scale: Kind): string => {
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last) return name;
  const [[x, y], [lastX, lastY]] = [first, last];
  return `${name} from ${number(y)} at ${valueText(scale, x)} to ${number(lastY)} at ${valueText(scale, lastX)}`;
};

/** Axes of two values, with room for their titles. */
export const plane = (
  titles: { x: string; y: string },
  x: ReturnType<typeof axisOf>,
  y: ReturnType<typeof axisOf>,
) => ({
  grid: { ...contained, left: 0, right: 8, top: 28, bottom: 24 },
  xAxis: { ...x, splitLine: { show: false }, name: titles.x, nameLocation: 'middle' as const, nameGap: 28 },
  yAxis: { ...y, name: titles.y, nameGap: 12, nameTextStyle: { ...axisLook.nameTextStyle, align: 'left' as const } },
});

export const straight = (data: Point[], colour: string, type: LineSeriesOption['lineStyle'] & object) =>
  ({ type: 'line', ...stateless, symbol: 'none', data, lineStyle: { color: colour, ...type } }) as const;

/** Number of pieces that make a straight line a smooth curve on logarithmic axes. */
const STEPS = 60;

/** Points of a straight line from x to x, where it is between the least and the greatest value of all points. */
function within({ a, b }: Fit, [first, last]: readonly [number, number], all: readonly Point[], scales: AxisScales) {
  const ys = all.map(([, y]) => y);
  const [low, high] = [scales.y === undefined ? 0 : Math.min(...ys), Math.max(...ys)];
  const x = (part: number) => (scales.x === undefined ? first + (last - first) * part : first * (last / first) ** part);
  const places = Array.from({ length: STEPS + 1 }, (_, i) => x(i / STEPS));
  return places.map((at): Point => [at, a + b * at]).filter(([, y]) => y >= low && y <= high);
}

/** Draws the fit from the first to the last point. */
function fitted({ fit, points, look }: Series, all: readonly Point[], scales: AxisScales): LineSeriesOption[] {
  const [first, last] = [points[0]?.[0], points.at(-1)?.[0]];
  if (!fit || first === undefined || last === undefined) return [];
  const { colour, dash } = lookOf(look);
  return [{ ...straight(within(fit, [first, last], all, scales), colour, { width: LINE_WIDTH, type: dash }), z: 1 }];
}

interface Drawn {
  at: Point;
  tip: string;
}

/** Inserts an empty point where a line is interrupted. */
function interrupted(points: readonly Drawn[], gap: number): Drawn[] {
  return points.flatMap((point, i) => {
    const before = points[i - 1];
    const isApart = before !== undefined && point.at[0] - before.at[0] > gap;
    return isApart ? [{ at: [point.at[0], NaN], tip: '' }, point] : [point];
  });
}

/** Draws lines; null if no line has two points and there are no scattered points. */
export function linesDrawing(lines: Lines): Drawing | null {
  const { series } = shownOf(lines);
  const { scattered, scales = {}, upTo } = lines;
  if (!series.some(({ points }) => points.length > (scattered ? 0 : 1))) return null;
  const all = series.flatMap(({ points }) => points);
  const xs = all.map(([x]) => x);
  const ends = [scales.x ? Math.min(...xs) : 0, Math.max(...xs)] as const;
  const references = (lines.references ?? []).filter(({ a, b }) => ends.every((x) => hasPlace(a + b * x, scales.y)));
  const placed = [...all, ...references.flatMap(({ a, b }) => ends.map((x): Point => [x, a + b * x]))];
  const ys = placed.map(([, y]) => y);
  const isScaled = scattered !== undefined;
  const bands = (lines.bands ?? []).filter(({ from, to }) => isDrawable(from) && isDrawable(to) && to > from);
  const levels = (lines.levels ?? []).filter(({ y }) => hasPlace(y, scales.y));
  const drawn = series.map(({ name, points }) =>
    interrupted(
      points.map(([x, y]) => ({
        at: [x, y],
        tip: `${name}: ${number(y)} at ${valueText(scales.x, x)} (${lines.y}, ${lines.x})`,
      })),
      lines.gapAfter ?? Infinity,
    ),
  );
  const behind = bands.map(({ name, from, to }) => ` ${name} from ${number(from)} to ${number(to)}.`).join('');
  const held = [...levels, ...references].map(({ name }) => ` Across it: ${name}.`).join('');
  const y = axisOf(ys, scales.y, 4, isScaled);
  return {
    size: SIZE,
    label: `${lines.title}: ${lines.y} against ${lines.x}. ${series.map((one) => described(one, scales.x)).join('; ')}.${held}${behind}`,
    tips: drawn.map((points) => points.map(({ tip }) => tip)),
    option: {
      ...plane(lines, axisOf(xs, scales.x, 5, isScaled), {
        ...y,
        ...(upTo !== undefined && Math.max(...ys, ...levels.map((level) => level.y)) <= upTo && { max: upTo }),
      }),
      series: [
        ...series.map(({ points, look, fit }, i) => {
          const { colour, symbol, dash } = lookOf(look);
          const isDense = points.length > 40;
          return {
            type: 'line',
            ...stateless,
            data: (drawn[i] ?? []).map(({ at }) => at),
            symbol: `path://${symbol}`,
            symbolSize: isDense ? 3 : 7,
            showAllSymbol: true,
            lineStyle: { color: colour, width: scattered || fit ? 0 : LINE_WIDTH, type: dash },
            itemStyle: { color: colour, borderColor: SURFACE, borderWidth: isDense ? 0 : 1 },
          } as const;
        }),
        ...series.flatMap((one) => fitted(one, all, scales)),
        ...levels.map(({ y: level }) =>
          straight(
            ends.map((x): Point => [x, level]),
            TEXT,
            { width: 1.5, type: LEVEL_DASH },
          ),
        ),
        ...references.map((line) =>
          straight(within(line, ends, placed, scales), TEXT, { width: 1.5, type: LEVEL_DASH }),
        ),
        boxes(
          bands.map(({ name, from, to }, i) => ({ x: [from, to], name, fill: i % 2 === 0 ? BAND : 'none' })),
          0,
        ),
        ...(scattered ?? []),
      ],
    },
  };
}
