/** Tails and consistency: one row per metric and system. */
import { percentileFloors } from '../../stats/summary.js';
import { html, type Markup } from '../markup.js';
import { digits } from '../../results/quantity.js';
import type { Cell, Percentile, Row, Spread, Tail, View } from '../../results/view.js';
import type { Page } from './page-content.js';
import { count, figure, metricRow, table, text } from './table.js';

const PERCENTILES: readonly Percentile[] = ['p50', 'p95', 'p99'];

/** Rows of the systems that have the requested data. */
function rowsOf<Part>(
  { categories }: View,
  part: (cell: Cell) => Part | null,
  cells: (part: Part, row: Row) => Markup,
) {
  return categories.flatMap(({ rows }) =>
    rows.flatMap((row) =>
      row.cells.flatMap((cell) => {
        const found = part(cell);
        return found === null ? [] : [metricRow(row, [text(cell.system), text(row.unit), cells(found, row)])];
      }),
    ),
  );
}

const head = [{ title: 'Metric' }, { title: 'System' }, { title: 'Unit' }];
const numeric = (title: string) => ({ title, numeric: true });

function tailCells(tail: Tail): Markup {
  const cell = (percentile: Percentile) => {
    const value = tail[percentile];
    const floor = percentileFloors[percentile];
    const why = tail.count < floor ? `n/a (needs ${floor})` : 'n/a';
    return value === null ? html`<td class="num none">${why}</td>` : figure(value);
  };
  return html`${PERCENTILES.map(cell)}${count(tail.count)}`;
}

export function tails({ view }: Page): Markup | null {
  const rows = rowsOf(view, ({ tail }) => tail, tailCells);
  if (rows.length === 0) return null;
  return table({
    caption: 'Percentiles of the samples within a process: medians over rounds',
    headings: [...head, ...PERCENTILES.map(numeric), numeric('Fewest samples')],
    rows,
  });
}

const relative = (cv: number | null): Markup | null =>
  cv === null ? null : html`<span class="interval">${digits(cv * 100)} %</span>`;

function outliers({ outliers: { mild, severe }, samples }: Spread): Markup {
  if (samples === 0) return figure(null);
  return html`<td class="num" data-sort="${mild + severe}">
    ${mild + severe}<span class="interval">${severe} severe, of ${samples}</span>
  </td>`;
}

export function consistency({ view }: Page): Markup | null {
  const rows = rowsOf(
    view,
    ({ spread }) => spread,
    (spread) =>
      html`${figure(spread.between, relative(spread.betweenCv))}${figure(spread.within, relative(spread.withinCv))}${outliers(spread)}`,
  );
  if (rows.length === 0) return null;
  return table({
    caption:
      'Standard deviations between rounds and within a process, and Tukey’s outliers, which are counted and never dropped',
    headings: [...head, numeric('Between rounds'), numeric('Within'), numeric('Outliers')],
    rows,
  });
}
