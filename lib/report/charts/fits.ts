/** Lines that a metric fitted to its points. */
import type { LineSeriesOption } from 'echarts/charts';
import type { Point } from './line-axes.js';
import type { Scale } from './scale.js';
import { LINE_WIDTH, lookOf, stateless } from './theme.js';

/** y = a + b·x */
export interface Fit {
  a: number;
  b: number;
}

/** Enough for a straight line to be a smooth curve on logarithmic axes. */
const STEPS = 60;

/** From the first to the last of the points, as far as it is inside the axes. */
export function fitSeries(
  { a, b }: Fit,
  points: readonly Point[],
  look: number,
  xs: Scale,
  ys: Scale,
): LineSeriesOption {
  const [from = 0, to = 0] = [points[0], points.at(-1)].map((point) => point && xs.place(point[0]));
  const places = Array.from({ length: STEPS + 1 }, (_, i) => from + ((to - from) * i) / STEPS);
  const drawn = places.map((at): Point => [at, ys.place(a + b * xs.valueAt(at))]);
  const { colour, dash } = lookOf(look);
  return {
    type: 'line',
    ...stateless,
    z: 1,
    symbol: 'none',
    // On a logarithmic axis what is at 0 or below has no place, and its place is not a number.
    data: drawn.filter(([, y]) => y >= ys.min && y <= ys.max),
    lineStyle: { color: colour, width: LINE_WIDTH, type: dash },
  };
}
