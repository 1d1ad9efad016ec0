/**
 * A straight line through points with possible outliers: the median slope over all pairs (H. Theil, 1950; P. K. Sen,
 * 1968), and the median of the residuals.
 */
import { median as middle, quantileSorted } from 'simple-statistics';
import type { Interval } from './rule/estimate.js';
import { FEWEST_FOR_INTERVAL } from './median.js';
import { seededRandom } from './random.js';
import { trimmed } from './trimmed-mean.js';

const REPLICATES = 1_000;

interface Point {
  x: number;
  y: number;
}

export interface Line {
  slope: number;
  intercept: number;
}

/** Throws RangeError without two points of different x. */
export function theilSen(points: readonly Point[]): Line {
  const slopes = points.flatMap((a, i) =>
    points.slice(i + 1).flatMap((b) => (b.x === a.x ? [] : [(b.y - a.y) / (b.x - a.x)])),
  );
  if (slopes.length === 0) throw new RangeError('Expected points at two places or more.');
  const slope = middle(slopes);
  return { slope, intercept: middle(points.map(({ x, y }) => y - slope * x)) };
}

export const at = ({ slope, intercept }: Line, x: number): number => intercept + slope * x;

/** Independent values found at one place; their trimmed mean is the place's point. */
export interface Cell {
  x: number;
  values: readonly number[];
}

interface LineIntervals {
  slope: Interval;
  /** Interval of the line at the given place. */
  at: Interval;
}

/** The point from as many draws as there are values. */
const redrawn = (values: readonly number[], random: () => number): number =>
  trimmed(values.map(() => values[Math.floor(random() * values.length)] as number));

/**
 * 95 % percentile intervals from 1 000 lines through cells with resampled values: a handful of points is too few for
 * Sen's own interval. Null if a cell has fewer than six values.
 */
export function theilSenCi95(cells: readonly Cell[], x: number, seed: number): LineIntervals | null {
  if (cells.some(({ values }) => values.length < FEWEST_FOR_INTERVAL)) return null;
  const random = seededRandom(seed);
  const lines = Array.from({ length: REPLICATES }, () =>
    theilSen(cells.map(({ x, values }) => ({ x, y: redrawn(values, random) }))),
  );
  const interval = (of: (line: Line) => number): Interval => {
    const sorted = lines.map(of).sort((a, b) => a - b);
    return [quantileSorted(sorted, 0.025), quantileSorted(sorted, 0.975)];
  };
  return { slope: interval(({ slope }) => slope), at: interval((line) => at(line, x)) };
}
