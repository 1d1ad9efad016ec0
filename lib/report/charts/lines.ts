/** Lines of several series over a common axis. */
import { number } from '../plain.js';
import { isDrawable, linear } from './scale.js';
import type { Drawing } from './svg.js';
import { axisLook, fixed, lookOf, stateless, SURFACE } from './theme.js';

const WIDTH = 360;
const HEIGHT = 240;
const MOST_SERIES = 16;
const MOST_POINTS = 240;

export type Point = [x: number, y: number];

export interface Series {
  name: string;
  /** Of its system, so that a system looks the same in every chart. */
  look: number;
  points: Point[];
  /** A level to hold the rest against, drawn thin and without points. */
  isReference?: boolean;
}

export interface Lines {
  title: string;
  x: string;
  y: string;
  series: Series[];
}

/** In order, without what has no place, and no more than a line of this width can show. */
function drawable(points: readonly Point[]): Point[] {
  const kept = points.filter((point) => point.every(isDrawable)).sort(([a], [b]) => a - b);
  const every = Math.ceil(kept.length / MOST_POINTS);
  return kept.filter((_, i) => i % every === 0);
}

/** Legend and drawing agree on who looks how. */
export const shownSeries = ({ series }: Lines): Series[] =>
  series
    .map((one) => ({ ...one, points: drawable(one.points) }))
    .filter(({ points }) => points.length > 0)
    .slice(0, MOST_SERIES);

const described = ({ name, points }: Series): string => {
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last) return name;
  return `${name} from ${number(first[1])} at ${number(first[0])} to ${number(last[1])} at ${number(last[0])}`;
};

function axes(lines: Lines, xs: ReturnType<typeof linear>, ys: ReturnType<typeof linear>) {
  return {
    grid: { ...fixed, left: 52, right: 18, top: 28, bottom: 44 },
    xAxis: {
      type: 'value' as const,
      ...axisLook,
      splitLine: { show: false },
      min: xs.min,
      max: xs.max,
      interval: xs.interval,
      axisLabel: { ...axisLook.axisLabel, formatter: xs.format, hideOverlap: true },
      name: lines.x,
      nameLocation: 'middle' as const,
      nameGap: 28,
    },
    yAxis: {
      type: 'value' as const,
      ...axisLook,
      min: ys.min,
      max: ys.max,
      interval: ys.interval,
      axisLabel: { ...axisLook.axisLabel, formatter: ys.format },
      name: lines.y,
      nameGap: 12,
      nameTextStyle: { ...axisLook.nameTextStyle, align: 'left' as const, padding: [0, 0, 0, -44] },
    },
  };
}

/** Null without two points on any line. */
export function linesDrawing(lines: Lines): Drawing | null {
  const series = shownSeries(lines);
  if (!series.some(({ points }) => points.length > 1)) return null;
  const all = series.flatMap(({ points }) => points);
  const xs = linear(
    all.map(([x]) => x),
    { ticks: 5, zero: true },
  );
  const ys = linear(
    all.map(([, y]) => y),
    { zero: true },
  );
  return {
    size: { width: WIDTH, height: HEIGHT },
    label: `${lines.title}: ${lines.y} against ${lines.x}. ${series.map(described).join('; ')}.`,
    tips: series.map(({ name, points }) =>
      points.map(([x, y]) => `${name}: ${number(y)} at ${number(x)} (${lines.y}, ${lines.x})`),
    ),
    option: {
      ...axes(lines, xs, ys),
      series: series.map(({ points, isReference, look }) => {
        const { colour, symbol, dash } = lookOf(look, isReference);
        return {
          type: 'line',
          ...stateless,
          data: points.map(([x, y]) => [xs.place(x), ys.place(y)]),
          symbol: isReference ? 'none' : symbol,
          symbolSize: points.length > 40 ? 3 : 7,
          showAllSymbol: true,
          lineStyle: { color: colour, width: isReference ? 1 : 1.75, type: dash },
          itemStyle: { color: colour, borderColor: SURFACE, borderWidth: points.length > 40 ? 0 : 1 },
        };
      }),
    },
  };
}
