/** The slope of a straight line through points, by least squares. */
import { linearRegression, linearRegressionLine, mean, sum } from 'simple-statistics';
import type { MedianEstimate } from './median.js';
import { tCritical } from './student-t.js';

export type Point = readonly [x: number, y: number];

/**
 * Includes the t interval of ordinary least squares if every x has at least two points: a single distant one pulls the
 * line through itself and leaves no residual to judge it by. Null without two different x.
 */
export function slope(points: readonly Point[]): MedianEstimate | null {
  const data = points.map(([x, y]) => [x, y]);
  const xs = points.map(([x]) => x);
  if (new Set(xs).size < 2) return null;
  const fit = linearRegression(data);
  if (xs.some((x) => xs.indexOf(x) === xs.lastIndexOf(x))) return { value: fit.m, ci95: null };
  const df = points.length - 2;
  const line = linearRegressionLine(fit);
  const middle = mean(xs);
  const residual = sum(points.map(([x, y]) => (y - line(x)) ** 2));
  const spread = sum(xs.map((x) => (x - middle) ** 2));
  const half = tCritical(0.05, df) * Math.sqrt(residual / df / spread);
  return { value: fit.m, ci95: [fit.m - half, fit.m + half] };
}
