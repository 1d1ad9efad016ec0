/** The values: all ratios at once, then category by category as table and charts. */
import type { Effect } from '../../document.js';
import { effectText } from '../effect-text.js';
import { html, type Markup } from '../markup.js';
import { ratiosOf } from '../charts/forest.js';
import type { Cell, Row, View } from '../view.js';
import { forestFigure, howToRead, lineFigures, metricFigure } from './figures.js';
import type { Page } from './section.js';
import { figure, type Heading, interval, metricRow, table, text } from './table.js';
import { verdictBadge, VERDICTS } from './verdict.js';

const stateOf = ({ results }: Cell): string => [...new Set(results.map(({ status }) => status))].join(', ') || '–';

const valueCell = (cell: Cell): Markup =>
  cell.value === null ? html`<td class="num none">${stateOf(cell)}</td>` : figure(cell.value, interval(cell.ci95));

function effectCells({ effect }: Cell, unit: string): Markup {
  if (!effect) return html`${html`<td class="num none">–</td>`}${text('–')}`;
  const sort = effect.ratio ?? effect.difference;
  const [, main = '', rest = ''] = /^([^(]*)(.*)$/s.exec(effectText(effect, unit)) ?? [];
  return html`<td class="num" ${sort !== null && html` data-sort="${sort}"`}>
      ${main.trim()}<span class="interval">${rest.replace(/[()]/g, '')}</span>
    </td>
    <td>${verdictBadge(effect.verdict)}</td>`;
}

function headings({ systems }: View): { groups: Heading[]; headings: Heading[] } {
  const baseline = systems.find(({ isBaseline }) => isBaseline)?.name ?? '';
  const against: Heading[] = [{ title: `Against ${baseline}`, numeric: true }, { title: 'Verdict' }];
  return {
    groups: [
      { title: '', span: 2 },
      ...systems.map(({ name, isCompared }) => ({ title: name, span: isCompared ? 3 : 1 })),
    ],
    headings: [
      { title: 'Metric' },
      { title: 'Unit' },
      ...systems.flatMap(({ isCompared }) => [{ title: 'Value', numeric: true }, ...(isCompared ? against : [])]),
    ],
  };
}

function resultRow(row: Row, { systems }: View): Markup {
  const cells = row.cells.map(
    (cell, i) => html`${valueCell(cell)}${systems[i]?.isCompared && effectCells(cell, row.unit)}`,
  );
  const verdicts = new Set(row.cells.flatMap(({ effect }) => effect?.verdict ?? []));
  return metricRow(row, [text(row.unit), cells], [...verdicts].join(' '));
}

const isSingle = ({ systems }: View): boolean => systems.every(({ rounds }) => rounds.length <= 1);

function category({ name, rows }: View['categories'][number], view: View): Markup {
  const title = name.charAt(0).toUpperCase() + name.slice(1);
  const caption = `${title}: ${isSingle(view) ? 'values' : 'medians over rounds'}, with 95 % intervals`;
  const figures = [
    ...rows.map(metricFigure),
    ...lineFigures(
      view,
      rows.map(({ id }) => id),
    ),
  ];
  return html`<h3>${title}</h3>
    ${table({ caption, ...headings(view), rows: rows.map((row) => resultRow(row, view)) })} ${howToRead}
    <div class="cards">${figures}</div> `;
}

const differenceCell = ({ difference }: Effect, words: string): Markup =>
  html`<td class="num"${difference !== null && html` data-sort="${difference}"`}>${words}</td>`;

/** Beside the ratios: what a logarithm has no place for. Without any ratio the tables below say it all. */
function withoutRatio(view: View): Markup | null {
  const placed = new Set(ratiosOf(view).flatMap(({ ratios }) => ratios.map(({ effect }) => effect)));
  const found = view.categories
    .flatMap(({ rows }) => rows.flatMap((row) => row.cells.map(({ effect }) => ({ row, effect }))))
    .flatMap(({ row, effect }) => (effect && !placed.has(effect) ? [{ row, effect }] : []));
  if (found.length === 0 || placed.size === 0) return null;
  const hasRemarks = found.some(({ effect }) => effect.reason !== undefined);
  const headings = [
    { title: 'Metric' },
    { title: 'System' },
    { title: 'Difference', numeric: true },
    { title: 'Verdict' },
    ...(hasRemarks ? [{ title: 'Remark' }] : []),
  ];
  return table({
    caption: 'Compared by their difference: values that may be zero or negative have no ratio',
    headings,
    rows: found.map(({ row, effect }) => {
      const difference = differenceCell(effect, effectText(effect, row.unit));
      const cells = [text(effect.system), difference, text(verdictBadge(effect.verdict))];
      return metricRow(row, [cells, hasRemarks && text(effect.reason)]);
    }),
  });
}

/** Shown by the script, which they are nothing without. */
const controls = (view: View): Markup =>
  html`<div class="controls" id="filter" role="search" aria-label="Metrics" hidden>
    <label>Find a metric <input type="search" id="filter-text" autocomplete="off" spellcheck="false" /></label>
    ${
      view.effects.length > 0 &&
      html`<label>Verdict
        <select id="filter-verdict">
          <option value="">any</option>
          ${VERDICTS.map((verdict) => html`<option>${verdict}</option>`)}
        </select>
      </label>`
    }
    <output id="filter-count" for="filter-text"></output>
  </div> `;

export function results({ view }: Page): Markup {
  return html`${controls(view)}${forestFigure(view)}${withoutRatio(view)}${view.categories.map((each) => category(each, view))}`;
}
