/** Lines of several series over a common axis. */
import { number } from '../../results/plain.js';
import { evenly } from './evenly.js';
import { plane, SIZE } from './plane.js';
import { capped, type CustomSeriesRenderItem, haloed } from './marks.js';
import { isDrawable, linear, type Scale } from './scale.js';
import type { Drawing } from './svg.js';
import { LEVEL_DASH, lookOf, stateless, still, SURFACE } from './theme.js';

const MOST_SERIES = 16;
const MOST_POINTS = 240;

export type Point = [x: number, y: number];

export interface Series {
  name: string;
  /** Of its system, so that a system looks the same in every chart. */
  look: number;
  points: Point[];
}

export interface Lines {
  title: string;
  x: string;
  y: string;
  series: Series[];
  /** Reference values, drawn across the lines. */
  levels?: { name: string; y: number }[];
  /** What the y axis reaches at least, so that drawings are comparable. */
  upTo?: number;
}

/** In order, without what has no place, and no more than a line of this width can show. */
const drawable = (points: readonly Point[]): Point[] =>
  evenly(
    points.filter((point) => point.every(isDrawable)).sort(([a], [b]) => a - b),
    MOST_POINTS,
  );

export interface Shown {
  series: Series[];
  /** Names of series that there is no room for. */
  leftOut: string[];
}

/** Legend and drawing agree on who looks how. */
export function shownOf({ series }: Lines): Shown {
  const all = series.map((one) => ({ ...one, points: drawable(one.points) })).filter(({ points }) => points.length > 0);
  return { series: all.slice(0, MOST_SERIES), leftOut: all.slice(MOST_SERIES).map(({ name }) => name) };
}

export interface Rows {
  /** Names of the columns. */
  series: string[];
  rows: { x: number; ys: (number | null)[] }[];
}

/** All that the lines are drawn from, and of who is left out the same. */
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

const described = ({ name, points }: Series): string => {
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last) return name;
  return `${name} from ${number(first[1])} at ${number(first[0])} to ${number(last[1])} at ${number(last[0])}`;
};

/** From one side to the other, over every line. */
function levelSeries(levels: readonly { y: number }[], xs: Scale, ys: Scale) {
  const renderItem: CustomSeriesRenderItem = ({ dataIndex }, api) => {
    const [from = 0, y = 0] = api.coord([xs.min, ys.place(levels[dataIndex]?.y ?? 0)]);
    const [to = 0] = api.coord([xs.max, 0]);
    return { type: 'group', children: haloed(capped(from, to, y, []), 3, LEVEL_DASH) };
  };
  const data = levels.map(({ y }) => [xs.min, ys.place(y)]);
  return { type: 'custom' as const, ...still, z: 3, data, renderItem };
}

/** Null without two points on any line. */
export function linesDrawing(lines: Lines): Drawing | null {
  const { series } = shownOf(lines);
  if (!series.some(({ points }) => points.length > 1)) return null;
  const all = series.flatMap(({ points }) => points);
  const xs = linear(
    all.map(([x]) => x),
    { ticks: 5, zero: true },
  );
  const levels = (lines.levels ?? []).filter(({ y }) => isDrawable(y));
  const ys = linear([lines.upTo ?? 0, ...all.map(([, y]) => y), ...levels.map(({ y }) => y)], { zero: true });
  const held = levels.map(({ name }) => ` Across it: ${name}.`).join('');
  return {
    size: SIZE,
    label: `${lines.title}: ${lines.y} against ${lines.x}. ${series.map(described).join('; ')}.${held}`,
    tips: series.map(({ name, points }) =>
      points.map(([x, y]) => `${name}: ${number(y)} at ${number(x)} (${lines.y}, ${lines.x})`),
    ),
    option: {
      ...plane(lines, xs, ys),
      series: [
        ...series.map(({ points, look }) => {
          const { colour, symbol, dash } = lookOf(look);
          const isDense = points.length > 40;
          return {
            type: 'line',
            ...stateless,
            data: points.map(([x, y]) => [xs.place(x), ys.place(y)]),
            symbol: `path://${symbol}`,
            symbolSize: isDense ? 3 : 7,
            showAllSymbol: true,
            lineStyle: { color: colour, width: 1.75, type: dash },
            itemStyle: { color: colour, borderColor: SURFACE, borderWidth: isDense ? 0 : 1 },
          } as const;
        }),
        ...(levels.length > 0 ? [levelSeries(levels, xs, ys)] : []),
      ],
    },
  };
}
