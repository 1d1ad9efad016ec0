/** Lines of several series over a common axis. */
import type { CustomSeriesOption } from 'echarts/charts';
import type { AxisScales } from '../../metrics/metric.js';
import { number } from '../../results/plain.js';
import { evenly } from './evenly.js';
import { type Fit, fitSeries } from './fits.js';
import { axisOf, hasPlace, isPlaced, type Point, xText } from './line-axes.js';
import { plane, SIZE } from './plane.js';
import { capped, type CustomSeriesRenderItem, haloed, line, textAt } from './marks.js';
import { isDrawable, type Scale } from './scale.js';
import type { Drawing } from './svg.js';
import { widthOf } from './text.js';
import { AXIS, BAND, LEVEL_DASH, LINE_WIDTH, lookOf, stateless, still, SURFACE } from './theme.js';

const MOST_SERIES = 16;
const MOST_POINTS = 240;

export type { Point } from './line-axes.js';

export interface Series {
  name: string;
  /** The system's index, so that a system looks the same in every chart. */
  look: number;
  points: Point[];
  /** Drawn in place of lines between the points. */
  fit?: Fit | null;
}

export interface Band {
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
  /** Named ranges of the x axis, drawn behind the lines. */
  bands?: Band[];
  /** A line is interrupted if its points are further apart than this, because nothing was measured in between. */
  gapAfter?: number;
  /** Minimum upper end of the y axis, so that drawings are comparable. */
  upTo?: number;
  /** Points without lines, and what is drawn around them. The axes include all of it and need not begin at 0. */
  scattered?: { reach: readonly Point[]; around: (xs: Scale, ys: Scale) => CustomSeriesOption[] };
}

/** The points in order, without those that cannot be drawn, and no more than a line of this width can show. */
const drawable = (points: readonly Point[], scales: Lines['scales']): Point[] =>
  evenly(
    points.filter((point) => isPlaced(point, scales)).sort(([a], [b]) => a - b),
    MOST_POINTS,
  );

export interface Shown {
  series: Series[];
  /** Names of series that did not fit. */
  leftOut: string[];
}

/** Computed once, so that legend and drawing agree on each series' look. */
export function shownOf({ series, scales }: Lines): Shown {
  const all = series
    .map((one) => ({ ...one, points: drawable(one.points, scales) }))
    .filter(({ points }) => points.length > 0);
  return { series: all.slice(0, MOST_SERIES), leftOut: all.slice(MOST_SERIES).map(({ name }) => name) };
}

export interface Rows {
  /** Column names. */
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

const described = ({ name, points }: Series, scale: AxisScales['x']): string => {
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last) return name;
  const [[x, y], [lastX, lastY]] = [first, last];
  return `${name} from ${number(y)} at ${xText(scale, x)} to ${number(lastY)} at ${xText(scale, lastX)}`;
};

/** Draws lines from one side to the other, in front of all others. */
function levelSeries(levels: readonly { y: number }[], xs: Scale, ys: Scale) {
  const renderItem: CustomSeriesRenderItem = ({ dataIndex }, api) => {
    const [from = 0, y = 0] = api.coord([xs.min, ys.place(levels[dataIndex]?.y ?? 0)]);
    const [to = 0] = api.coord([xs.max, 0]);
    return { type: 'group', children: haloed(capped(from, to, y, []), 3, LEVEL_DASH) };
  };
  const data = levels.map(({ y }) => [xs.min, ys.place(y)]);
  return { type: 'custom' as const, ...still, z: 3, data, renderItem };
}

/** Shades every second range. */
function bandSeries(bands: readonly Band[], xs: Scale, ys: Scale) {
  const renderItem: CustomSeriesRenderItem = ({ dataIndex }, api) => {
    const { from, to } = bands[dataIndex] as Band;
    const [left = 0, top = 0] = api.coord([xs.place(from), ys.max]);
    const [right = 0, bottom = 0] = api.coord([xs.place(to), ys.min]);
    const shape = { x: left, y: top, width: right - left, height: bottom - top };
    const fill = dataIndex % 2 === 0 ? BAND : 'none';
    const edge = line([[left, top], [left, bottom]], AXIS, 1); // prettier-ignore
    return { type: 'group', children: [{ type: 'rect' as const, shape, style: { fill } }, edge] };
  };
  return { type: 'custom' as const, ...still, z: 0, data: bands.map(({ from }) => [xs.place(from), 0]), renderItem };
}

/** Writes names at the top of each range that is wide enough, in front of the lines. */
function bandNames(bands: readonly Band[], xs: Scale, ys: Scale) {
  const renderItem: CustomSeriesRenderItem = ({ dataIndex }, api) => {
    const { name, from, to } = bands[dataIndex] as Band;
    const [left = 0, top = 0] = api.coord([xs.place(from), ys.max]);
    const [right = 0] = api.coord([xs.place(to), ys.max]);
    const fits = widthOf(name) + 6 <= right - left;
    return { type: 'group', children: fits ? [textAt(left + 3, top + 8, name, { isHaloed: true })] : [] };
  };
  return { type: 'custom' as const, ...still, z: 3, data: bands.map(({ from }) => [xs.place(from), 0]), renderItem };
}

interface Drawn {
  at: [x: number, y: number];
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

/** Null if no line has two points and there are no scattered points. */
export function linesDrawing(lines: Lines): Drawing | null {
  const { series } = shownOf(lines);
  const { scattered, scales = {} } = lines;
  if (!series.some(({ points }) => points.length > (scattered ? 0 : 1))) return null;
  const reach = (scattered?.reach ?? []).filter((point) => isPlaced(point, scales));
  const all = [...series.flatMap(({ points }) => points), ...reach];
  const zero = scattered === undefined;
  const bands = (lines.bands ?? []).filter(({ from, to }) => isDrawable(from) && isDrawable(to) && to > from);
  const bandEnds = bands.flatMap(({ from, to }) => [from, to]);
  const xs = axisOf([...all.map(([x]) => x), ...bandEnds], scales.x, { ticks: 5, zero });
  const levels = (lines.levels ?? []).filter(({ y }) => hasPlace(y, scales.y));
  const least = lines.upTo === undefined ? [] : [lines.upTo];
  const ys = axisOf([...least, ...all.map(([, y]) => y), ...levels.map(({ y }) => y)], scales.y, { zero });
  const drawn = series.map(({ name, points }) =>
    interrupted(
      points.map(([x, y]) => ({
        at: [x, y],
        tip: `${name}: ${number(y)} at ${xText(scales.x, x)} (${lines.y}, ${lines.x})`,
      })),
      lines.gapAfter ?? Infinity,
    ),
  );
  const behind = bands.map(({ name, from, to }) => ` ${name} from ${number(from)} to ${number(to)}.`).join('');
  const held = levels.map(({ name }) => ` Across it: ${name}.`).join('');
  return {
    size: SIZE,
    label: `${lines.title}: ${lines.y} against ${lines.x}. ${series.map((one) => described(one, scales.x)).join('; ')}.${held}${behind}`,
    tips: drawn.map((points) => points.map(({ tip }) => tip)),
    option: {
      ...plane(lines, xs, ys),
      series: [
        ...series.map(({ points, look, fit }, i) => {
          const { colour, symbol, dash } = lookOf(look);
          const isDense = points.length > 40;
          return {
            type: 'line',
            ...stateless,
            data: (drawn[i] ?? []).map(({ at: [x, y] }) => [xs.place(x), ys.place(y)]),
            symbol: `path://${symbol}`,
            symbolSize: isDense ? 3 : 7,
            showAllSymbol: true,
            lineStyle: { color: colour, width: scattered || fit ? 0 : LINE_WIDTH, type: dash },
            itemStyle: { color: colour, borderColor: SURFACE, borderWidth: isDense ? 0 : 1 },
          } as const;
        }),
        ...series.flatMap(({ points, look, fit }) => (fit ? [fitSeries(fit, points, look, xs, ys)] : [])),
        ...(levels.length > 0 ? [levelSeries(levels, xs, ys)] : []),
        ...(bands.length > 0 ? [bandSeries(bands, xs, ys), bandNames(bands, xs, ys)] : []),
        ...(scattered?.around(xs, ys) ?? []),
      ],
    },
  };
}
