/**
 * The line charts of a report, from the metric definitions. Details come from a file and are not trusted: rows of
 * another shape are skipped.
 */
import type { LineChart } from '../../metrics/core/metric.js';
import { metrics } from '../../metrics/registry.js';
import { grouped } from '../../results/text/grouped.js';
import { fieldOf, type Fields, fieldsOf, isFields, isNumber, rowsOf } from '../../results/fields.js';
import { medianOf, type View } from '../../results/view.js';
import { number } from '../../results/text/plain.js';
import type { Fit, Lines, Reference, Series } from './lines.js';
import type { Point } from './marks.js';

interface DrawnLineChart extends Omit<Lines, 'series' | 'references'> {
  /** The metric whose details hold the points; the chart is shown with it. */
  metric: string;
  series: (view: View) => Series[];
  references: (view: View) => Reference[];
}

const MOST_ROWS = 1_000;

interface Found {
  of: unknown;
  point: Point;
}

type Where = LineChart['where'];

/** Rows of an array in the details that have the values of `where`. */
const rowsIn = (details: unknown, rows: string, where: Where = {}): Fields[] =>
  rowsOf(details, rows, MOST_ROWS).filter((row) =>
    Object.entries(where).every(([field, value]) => row[field] === value),
  );

const pointsIn = (details: unknown, { rows, point, where, fromX = -Infinity, by = point.x }: LineChart): Found[] =>
  rowsIn(details, rows, where).flatMap((row): Found[] => {
    const [x, y] = [row[point.x], row[point.y]];
    return isNumber(x) && isNumber(y) && x >= fromX ? [{ of: row[by], point: [x, y] }] : [];
  });

function fitsIn(details: unknown, { rows, field, a, b, where }: NonNullable<LineChart['fit']>): Fit[] {
  return rowsIn(details, rows, where).flatMap((row): Fit[] => {
    const found = row[field];
    if (!isFields(found)) return [];
    const [start, slope] = [found[a], found[b]];
    return isNumber(start) && isNumber(slope) ? [{ a: start, b: slope }] : [];
  });
}

/** The line of medians over rounds; null if no round has one. */
function fitOf(fits: readonly Fit[]): Fit | null {
  const [a, b] = [medianOf(fits.map((fit) => fit.a)), medianOf(fits.map((fit) => fit.b))];
  return a === null || b === null ? null : { a, b };
}

/** Merges matching points of all rounds into one. */
function overRounds(found: readonly Found[]): Point[] {
  const middle = (points: readonly Found[], axis: 0 | 1) => medianOf(points.map(({ point }) => point[axis])) ?? 0;
  return [...grouped(found, ({ of }) => of).values()].map((points): Point => [middle(points, 0), middle(points, 1)]);
}

/** The details of a metric's numbers by system. */
const measuredIn = ({ categories }: View, metric: string) =>
  categories
    .flatMap((category) => category.rows)
    .filter(({ id }) => id === metric)
    .flatMap(({ cells }) =>
      cells.map(({ system, results }) => ({
        system,
        measured: results.filter(({ status }) => status === 'ok').map(({ details }) => details),
      })),
    );

/** Makes one line per system. */
const seriesOf =
  (metric: string, chart: LineChart) =>
  (view: View): Series[] =>
    measuredIn(view, metric).map(({ system, measured }, look) => {
      const { fit } = chart;
      return {
        name: system,
        look,
        points: overRounds(measured.flatMap((details) => pointsIn(details, chart))),
        ...(fit && { fit: fitOf(measured.flatMap((details) => fitsIn(details, fit))) }),
      };
    });

/** The line of the chart's rate, the median over all systems: they measure the same GPU. */
const referencesOf =
  (metric: string, { rate }: LineChart) =>
  (view: View): Reference[] => {
    if (rate === undefined) return [];
    const rates = measuredIn(view, metric).flatMap(({ measured }) =>
      measured.flatMap((details) => {
        const found = fieldOf(fieldsOf(fieldOf(fieldsOf(details), rate.object)), rate.field);
        return isNumber(found) && found > 0 ? [found] : [];
      }),
    );
    const middle = medianOf(rates);
    return middle === null
      ? []
      : [{ name: `${rate.name}, ${number(middle)} ${rate.unit}`, a: 0, b: 1 / (middle * rate.perUnit) }];
  };

export const lineCharts: readonly DrawnLineChart[] = metrics.flatMap(({ id, lineCharts: charts = [] }) =>
  charts.map((chart) => ({
    metric: id,
    title: chart.title,
    ...chart.axes,
    ...(chart.scales && { scales: chart.scales }),
    series: seriesOf(id, chart),
    references: referencesOf(id, chart),
  })),
);
