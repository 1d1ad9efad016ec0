/**
 * The line charts of a report, from the metric definitions. Details come from a file and are not trusted: rows of
 * another shape are skipped.
 */
import type { LineChart } from '../../metrics/metric.js';
import { metrics } from '../../metrics/registry.js';
import { grouped } from '../../results/grouped.js';
import { medianOf, type View } from '../../results/view.js';
import type { Lines, Point, Series } from './lines.js';

export interface DrawnLineChart extends Omit<Lines, 'series'> {
  /** The metric whose details hold the points; the chart is shown with it. */
  metric: string;
  series: (view: View) => Series[];
}

const MOST_ROWS = 1_000;

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

interface Found {
  of: unknown;
  point: Point;
}

function pointsIn(details: unknown, { rows, point, where = {}, fromX = -Infinity, by = point.x }: LineChart): Found[] {
  const list = isRecord(details) && Object.hasOwn(details, rows) ? details[rows] : null;
  if (!Array.isArray(list)) return [];
  return list.slice(0, MOST_ROWS).flatMap((row: unknown): Found[] => {
    if (!isRecord(row) || Object.entries(where).some(([field, text]) => row[field] !== text)) return [];
    const [x, y] = [row[point.x], row[point.y]];
    return isNumber(x) && isNumber(y) && x >= fromX ? [{ of: row[by], point: [x, y] }] : [];
  });
}

/** Merges matching points of all rounds into one. */
function overRounds(found: readonly Found[]): Point[] {
  const middle = (points: readonly Found[], axis: 0 | 1) => medianOf(points.map(({ point }) => point[axis])) ?? 0;
  return [...grouped(found, ({ of }) => of).values()].map((points): Point => [middle(points, 0), middle(points, 1)]);
}

/** One line per system. */
const seriesOf =
  (metric: string, chart: LineChart) =>
  ({ categories }: View): Series[] =>
    categories
      .flatMap((category) => category.rows)
      .filter(({ id }) => id === metric)
      .flatMap(({ cells }) =>
        cells.map(({ system, results }, look) => {
          const measured = results.filter(({ status }) => status === 'ok');
          return {
            name: system,
            look,
            points: overRounds(measured.flatMap(({ details }) => pointsIn(details, chart))),
          };
        }),
      );

export const lineCharts: readonly DrawnLineChart[] = metrics.flatMap(({ id, lineCharts: charts = [] }) =>
  charts.map((chart) => ({
    metric: id,
    title: chart.title,
    ...chart.axes,
    series: seriesOf(id, chart),
  })),
);
