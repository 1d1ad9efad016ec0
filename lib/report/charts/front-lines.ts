/** Chart of throughput and p99 latency: a mark for every point, bars for its intervals, and the front. */
import type { CustomSeriesOption } from 'echarts/charts';
import type { Coordinate, Front, FrontPoint } from '../../costs/fronts.js';
import type { Lines, Point } from './lines.js';
import { capped, type CustomSeriesRenderItem, line, type Place } from './marks.js';
import { isDrawable, type Scale } from './scale.js';
import { colourOf, LEVEL_DASH, MUTED, still, TEXT } from './theme.js';

const RING = 8;

const placeOf = ({ latency, throughput }: FrontPoint): Point => [latency.value, throughput.value];

/** Ends that can be drawn. */
const ends = ({ interval }: Coordinate): [number, number] | null =>
  interval?.every(isDrawable) === true ? interval : null;

/** The ends of the intervals, which the axes must include in addition to the points. */
const reachOf = (point: FrontPoint): Point[] => {
  const [x, y] = placeOf(point);
  return [
    ...(ends(point.latency) ?? []).map((end): Point => [end, y]),
    ...(ends(point.throughput) ?? []).map((end): Point => [x, end]),
  ];
};

/** Systems in the order of the report, so that each looks the same as in other charts. */
export function frontLines(front: Front, title: string, systems: readonly string[]): Lines {
  const points = front.points.filter((point) => placeOf(point).every(isDrawable));
  const named = [...new Set(points.map(({ system }) => system))];
  const lookOf = (system: string) => Math.max(0, systems.indexOf(system));
  return {
    title,
    x: `${front.latency.key}, ${front.latency.unit}`,
    y: `${front.throughput.key}, ${front.throughput.unit}`,
    series: named.map((name) => ({
      name,
      look: lookOf(name),
      points: points.filter(({ system }) => system === name).map(placeOf),
    })),
    scattered: {
      reach: points.flatMap(reachOf),
      around: (xs, ys) => [intervals(points, (system) => colourOf(lookOf(system)), xs, ys), onFront(points, xs, ys)],
    },
  };
}

function intervals(
  points: readonly FrontPoint[],
  colour: (system: string) => string,
  xs: Scale,
  ys: Scale,
): CustomSeriesOption {
  const renderItem: CustomSeriesRenderItem = ({ dataIndex }, api) => {
    const point = points[dataIndex] as FrontPoint;
    const at = (x: number, y: number) => api.coord([xs.place(x), ys.place(y)]) as Place;
    const [x, y] = placeOf(point);
    const [across, upright] = [ends(point.latency), ends(point.throughput)];
    const bars: Place[][] = [];
    if (across) bars.push(capped(at(across[0], y)[0], at(across[1], y)[0], at(x, y)[1]));
    // Drawn as a horizontal interval with swapped coordinates.
    if (upright) bars.push(capped(at(x, upright[1])[1], at(x, upright[0])[1], at(x, y)[0]).map(([a, b]) => [b, a]));
    return { type: 'group', children: bars.map((bar) => line(bar, colour(point.system))) };
  };
  return { type: 'custom', ...still, z: 1, data: points.map(() => [0, 0]), renderItem };
}

/** The line of the front, from the lowest latency to the highest throughput. */
function onFront(points: readonly FrontPoint[], xs: Scale, ys: Scale): CustomSeriesOption {
  const front = points
    .filter(({ standing }) => standing === 'front')
    .map(placeOf)
    .sort(([a], [b]) => a - b);
  const renderItem: CustomSeriesRenderItem = (_, api) => {
    const places = front.map(([x, y]) => api.coord([xs.place(x), ys.place(y)]) as Place);
    const rings = places.map(([cx, cy]) => ({
      type: 'circle' as const,
      shape: { cx, cy, r: RING },
      style: { stroke: TEXT, lineWidth: 1.5, fill: 'none' },
    }));
    return { type: 'group', children: [line(places, MUTED, 1.5, LEVEL_DASH), ...rings] };
  };
  return { type: 'custom', ...still, z: 3, data: front.length > 0 ? [[0, 0]] : [], renderItem };
}
