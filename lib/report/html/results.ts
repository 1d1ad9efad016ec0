/** The values: first all ratios together, then tables and charts by category. */
import { categoryTitle } from '../../results/text/category-title.js';
import type { Effect } from '../../results/document.js';
import { sizeOf, sizeText, VERDICTS } from '../../results/text/effect-text.js';
import { html, type Markup } from '../text/markup.js';
import { ratiosOf } from '../charts/forest.js';
import { partly } from '../../results/rounds.js';
import { againstBaseline, type Cell, type Row, type SystemView, type View } from '../../results/view.js';
import { forestFigure, howToRead, lineFigures, metricFigure } from './figures/figures.js';
import type { Page } from './page-content.js';
import { peerFigures } from './figures/peer-figures.js';
import { count, figure, type Heading, interval, metricRow, scaled, spanned, table, text, unbroken } from './table.js';
import { tallies } from '../tables/tally.js';
import { judgement, verdictBadge } from './verdict.js';

/** Statuses in place of a value. Where an effect is invalid, rounds that were measured show no value either. */
const stateOf = ({ results, effect }: Cell): string => {
  const states = new Set<string>(results.map(({ status }) => status));
  if (effect?.verdict === 'invalid' || states.has('invalid')) states.delete('ok');
  return [...states].join(', ') || '–';
};

function valueCell(cell: Cell): Markup {
  if (cell.value === null) return html`<td class="num none">${stateOf(cell)}</td>`;
  const some = partly(cell.values.length, cell.of);
  return figure(cell.value, [interval(cell.ci95), some !== null && html`<span class="interval">${some}</span>`]);
}

function sizeCell(effect: Effect | null, unit: string): Markup {
  const size = effect && sizeOf(effect, unit);
  if (!size) return scaled(null, null, '–');
  const { value, interval: ends } = sizeText(size);
  return scaled(size.value, size.unit, [unbroken(value), spanned(ends)]);
}

const effectCells = ({ effect }: Cell, unit: string): Markup =>
  html`${sizeCell(effect, unit)}${text(effect ? judgement(effect) : '–')}`;

const against = (systems: readonly SystemView[]): Heading[] => [
  { title: againstBaseline(systems), numeric: true },
  { title: 'Verdict' },
];

function headings(systems: readonly SystemView[]): { groups: Heading[]; headings: Heading[] } {
  return {
    groups: [
      { title: '', span: 2 },
      ...systems.map(({ name, isCompared }) => ({ title: name, span: isCompared ? 3 : 1 })),
    ],
    headings: [
      { title: 'Metric' },
      { title: 'Unit' },
      ...systems.flatMap(({ isCompared }) => [
        { title: 'Value', numeric: true },
        ...(isCompared ? against(systems) : []),
      ]),
    ],
  };
}

/** Most systems that fit side by side, on paper too: systems with a verdict take three columns each. */
const MOST_COMPARED = 2;
const MOST_APART = 8;

/** Splits the systems over tables, with the baseline in each. */
function parts({ systems }: View): SystemView[][] {
  const baseline = systems.filter(({ isBaseline }) => isBaseline);
  const others = systems.filter(({ isBaseline }) => !isBaseline);
  const count = Math.max(1, Math.ceil(others.length / (baseline.length > 0 ? MOST_COMPARED : MOST_APART)));
  const size = Math.ceil(others.length / count);
  return Array.from({ length: count }, (_, i) => [...baseline, ...others.slice(i * size, (i + 1) * size)]);
}

function resultRow(row: Row, systems: readonly SystemView[]): Markup {
  const verdicts = new Set<string>();
  const cells = systems.map(({ name, isCompared }) => {
    const cell = row.cells.find(({ system }) => system === name) as Cell;
    if (isCompared && cell.effect) verdicts.add(cell.effect.verdict);
    return html`${valueCell(cell)}${isCompared && effectCells(cell, row.unit)}`;
  });
  return metricRow(row, [text(row.unit), cells], [...verdicts].join(' '));
}

const isSingle = ({ systems }: View): boolean => systems.every(({ rounds }) => rounds.length <= 1);

const valuesText = (view: View): string => `${isSingle(view) ? 'values' : 'medians over rounds'}, with 95 % intervals`;

/** Charts of these metrics, and how to read them. */
export const figuresOf = (rows: readonly Row[], view: View): Markup => {
  const ids = rows.map(({ id }) => id);
  const figures = [...rows.map(metricFigure), ...lineFigures(view, ids)];
  return html`${howToRead}
    ${[html`<div class="cards">${figures}</div>`, ...peerFigures(view, ids)]}`;
};

function category({ name, rows }: View['categories'][number], view: View): Markup {
  const title = categoryTitle(name);
  const caption = `${title}: ${valuesText(view)}`;
  const tables = parts(view).map((systems, _, { length }) =>
    table({
      caption: length > 1 ? `${caption}: ${systems.map((system) => system.name).join(', ')}` : caption,
      ...headings(systems),
      rows: rows.map((row) => resultRow(row, systems)),
    }),
  );
  return html`<div class="category">
    <h3>${title}</h3>
    ${tables} ${figuresOf(rows, view)}
  </div> `;
}

/** Values of one metric, with a row per system. */
export const systemsTable = (row: Row, view: View): Markup =>
  table({
    caption: `${row.unit}: ${valuesText(view)}`,
    headings: [
      { title: 'System' },
      { title: 'Value', numeric: true },
      ...(view.systems.some(({ isCompared }) => isCompared) ? against(view.systems) : []),
    ],
    rows: view.systems.map(({ name, isCompared }) => {
      const cell = row.cells.find(({ system }) => system === name) as Cell;
      return html`<tr>
        <th scope="row">${name}</th>
        ${valueCell(cell)}${isCompared && effectCells(cell, row.unit)}
      </tr>`;
    }),
  });

/**
 * Table of effects that a logarithmic axis cannot show; null if there is no ratio at all: the tables below then show
 * everything.
 */
function withoutRatio(view: View): Markup | null {
  const placed = new Set(ratiosOf(view).flatMap(({ ratios }) => ratios.map(({ effect }) => effect)));
  const found = view.categories
    .flatMap(({ rows }) => rows.flatMap((row) => row.cells.map(({ effect }) => ({ row, effect }))))
    .flatMap(({ row, effect }) => (effect && !placed.has(effect) ? [{ row, effect }] : []));
  if (found.length === 0 || placed.size === 0) return null;
  return table({
    caption: 'No ratio, because values may be zero or negative, or fewer than two rounds measured both systems',
    headings: [
      { title: 'Metric' },
      { title: 'System' },
      { title: 'Difference', numeric: true },
      { title: 'Rounds', numeric: true },
      { title: 'Verdict' },
    ],
    rows: found.map(({ row, effect }) =>
      metricRow(row, [text(effect.system), sizeCell(effect, row.unit), count(effect.rounds), text(judgement(effect))]),
    ),
  });
}

/** Controls of the filter, hidden until the script runs, because they do nothing without it. */
const controls = (view: View): Markup =>
  html`<div class="controls" id="filter" role="search" aria-label="Metrics" hidden>
    <label>Find a metric <input type="search" id="filter-text" autocomplete="off" spellcheck="false" /></label>
    ${
      view.effects.length > 0 &&
      html`<label>Verdict
        <select id="filter-verdict" autocomplete="off">
          <option value="">any</option>
          ${VERDICTS.map((verdict) => html`<option>${verdict}</option>`)}
        </select>
      </label>`
    }
    <output id="filter-count" for="filter-text"></output>
  </div> `;

/** Table of the number of metrics by verdict and system. */
function tally(view: View): Markup | null {
  const rows = tallies(view).map(
    ({ system, counts }) =>
      html`<div>
        <dt>${system}</dt>
        <dd>
          <ul class="tally">
            ${counts.map(({ verdict, count: of }) => html`<li>${verdictBadge(verdict)} ${of}</li>`)}
          </ul>
        </dd>
      </div>`,
  );
  return rows.length === 0 ? null : html`<dl class="tallies">${rows}</dl> `;
}

export function results({ view }: Page): Markup {
  return html`${tally(view)}${controls(view)}${forestFigure(view)}${withoutRatio(view)}${view.categories.map((each) => category(each, view))}`;
}
