/** Draws throughput and p99 latency: a mark for every point, bars for its intervals, and the front. */
import type { Coordinate, Front, FrontPoint } from '../../costs/fronts.js';
import { isDrawable } from './axes.js';
import { type Lines, straight } from './lines.js';
import { type Interval, intervals, type Point } from './marks.js';
import { colourOf, LEVEL_DASH, MUTED, stateless, TEXT } from './theme.js';

const RING = 16;

const placeOf = ({ latency, throughput }: FrontPoint): Point => [latency.value, throughput.value];

/** Ends of an interval that can be drawn. */
const ends = ({ interval }: Coordinate): readonly number[] => (interval?.every(isDrawable) === true ? interval : []);

function spansOf(point: FrontPoint, colour: string): Interval[] {
  const [x, y] = placeOf(point);
  const [[left, right], [low, high]] = [ends(point.latency), ends(point.throughput)];
  return [
    ...(left === undefined || right === undefined ? [] : [{ from: [left, y], to: [right, y], colour } as Interval]),
    ...(low === undefined || high === undefined ? [] : [{ from: [x, low], to: [x, high], colour } as Interval]),
  ];
}

/** Draws a front. `systems` are in the order of the report, so that each looks the same as in other charts. */
export function frontLines(front: Front, title: string, systems: readonly string[]): Lines {
  const points = front.points.filter((point) => placeOf(point).every(isDrawable));
  const named = [...new Set(points.map(({ system }) => system))];
  const lookOf = (system: string) => Math.max(0, systems.indexOf(system));
  // From the lowest latency to the highest throughput.
  const best = points
    .filter(({ standing }) => standing === 'front')
    .map(placeOf)
    .sort(([a], [b]) => a - b);
  return {
    title,
    x: `${front.latency.key}, ${front.latency.unit}`,
    y: `${front.throughput.key}, ${front.throughput.unit}`,
    series: named.map((name) => ({
      name,
      look: lookOf(name),
      points: points.filter(({ system }) => system === name).map(placeOf),
    })),
    scattered: [
      { ...intervals(points.flatMap((point) => spansOf(point, colourOf(lookOf(point.system))))), z: 1 },
      {
        ...straight(best, MUTED, { width: 1.5, type: LEVEL_DASH }),
        ...stateless,
        z: 3,
        symbol: 'circle',
        symbolSize: RING,
        itemStyle: { color: 'none', borderColor: TEXT, borderWidth: 1.5 },
      },
    ],
  };
}
