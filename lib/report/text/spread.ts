/** Tails and consistency: one row per metric and system. */
import { findMetricOf } from '../../metrics/core/stored-definitions.js';
import { digits } from '../../results/text/quantity.js';
import { type Cell, type Percentile, type Row, rowsOf, type Spread, type Tail, type View } from '../../results/view.js';
import { percentileFloors } from '../../stats/summary.js';
import { type DataCell, type DataTable, numeric, titleOf } from '../tables/table-data.js';

const PERCENTILES: readonly Percentile[] = ['p50', 'p95', 'p99'];

/** A p99.9 takes more samples than most metrics have, so it has a column only if there is one. */
const percentilesIn = (view: View): readonly Percentile[] =>
  rowsOf(view).some(({ cells }) => cells.some(({ tail }) => (tail?.p999 ?? null) !== null))
    ? [...PERCENTILES, 'p999']
    : PERCENTILES;

const head = [{ title: 'Metric' }, { title: 'System' }, { title: 'Unit' }];

const figure = (value: number | null, note: string | null = null): DataCell => ({
  text: value === null ? '–' : digits(value),
  sort: value,
  note,
});
const counted = (value: number): DataCell => ({ text: String(value), sort: value });

/** Makes a table with a row for each metric and system that has the data; null without any. */
function tableOf(
  view: View,
  { title, columns }: Pick<DataTable, 'title' | 'columns'>,
  cells: (cell: Cell, row: Row) => DataCell[] | null,
): DataTable | null {
  const rows = rowsOf(view).flatMap((row) =>
    row.cells.flatMap((cell) => {
      const own = cells(cell, row);
      return own ? [{ metric: row.id, cells: [titleOf(row), cell.system, row.unit, ...own] }] : [];
    }),
  );
  return rows.length === 0 ? null : { title, columns: [...head, ...columns], rows };
}

function percentileCell({ count, ...tail }: Tail, percentile: Percentile): DataCell {
  const [value, floor] = [tail[percentile], percentileFloors[percentile]];
  if (value !== null) return figure(value);
  return { text: count < floor ? `n/a (needs ${floor})` : 'n/a', sort: null };
}

export function tailTable(view: View): DataTable | null {
  const percentiles = percentilesIn(view);
  return tableOf(
    view,
    {
      title: 'Percentiles of the samples within a process: medians over rounds',
      columns: [
        ...percentiles.map((percentile) => numeric(percentile === 'p999' ? 'p99.9' : percentile)),
        numeric('Fewest samples'),
      ],
    },
    ({ tail }) => tail && [...percentiles.map((percentile) => percentileCell(tail, percentile)), counted(tail.count)],
  );
}

const relative = (cv: number | null): string | null => (cv === null ? null : `${digits(cv * 100)} %`);

/** Whether shares of the mean make sense. A metric whose δ is a difference may be 0 or negative. */
const hasShares = ({ document }: View, { id }: Row): boolean => {
  const metric = findMetricOf(document, id);
  return metric === undefined || 'relative' in metric.delta;
};

const outliers = ({ outliers: { mild, severe }, samples }: Spread): DataCell =>
  samples === 0 ? figure(null) : { ...counted(mild + severe), note: `${mild} mild, ${severe} severe, of ${samples}` };

export const spreadTable = (view: View): DataTable | null =>
  tableOf(
    view,
    {
      title:
        'Standard deviations between rounds and within a process, and Tukey’s outliers, which are counted and never dropped',
      columns: [
        numeric('Rounds'),
        numeric('SD between rounds', 'of the mean'),
        numeric('SD within', 'of the mean'),
        numeric('Outliers'),
      ],
    },
    ({ spread, values }, row) => {
      if (!spread) return null;
      const share = (cv: number | null) => (hasShares(view, row) ? relative(cv) : null);
      return [
        counted(values.length),
        figure(spread.between, share(spread.betweenCv)),
        figure(spread.within, share(spread.withinCv)),
        outliers(spread),
      ];
    },
  );
