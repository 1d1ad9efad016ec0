/** Tables with captions, header scopes, aligned numbers, and a scroll region for narrow screens. */
import { html, type Interpolated, type Markup } from '../text/markup.js';
import { number } from '../../results/text/plain.js';
import { digits, range } from '../../results/text/quantity.js';
import type { Row } from '../../results/view.js';

/** Number of columns below which a table is not stretched to the page width. */
const SPARSE = 4;

export interface Heading {
  title: string;
  numeric?: boolean;
  /** Number of columns under the heading, in a table with two rows of headings. */
  span?: number;
}

export interface TableOptions {
  caption: string;
  /** Headings over groups of columns. */
  groups?: readonly Heading[];
  headings: readonly Heading[];
  rows: readonly Markup[];
}

const group = ({ title, span = 1 }: Heading): Markup =>
  title === '' ? html`<td colspan="${span}"></td>` : html`<th scope="colgroup" colspan="${span}">${title}</th>`;

const heading = ({ title, numeric }: Heading): Markup =>
  html`<th scope="col" ${numeric && html` class="num"`}>${title}</th>`;

export function table({ caption, groups, headings, rows }: TableOptions): Markup {
  return html`<div class="scroll" role="region" tabindex="0" aria-label="${caption}">
    <table${headings.length < SPARSE && html` class="sparse"`}>
      <caption>
        <span>${caption}</span>
      </caption>
      <thead>
        ${
          groups &&
          html`<tr class="groups">
            ${groups.map(group)}
          </tr>`
        }
        <tr>
          ${headings.map(heading)}
        </tr>
      </thead>
      <tbody>
        ${rows.map((row) => [row, '\n'])}
      </tbody>
    </table>
  </div> `;
}

export const text = (content: Interpolated): Markup => html`<td>${content}</td>`;

/** Keeps a sign with its number, and an interval's end with its dots, by non-breaking spaces. */
export const unbroken = (said: string): string => said.replace(/([×<]) /g, '$1\u00a0').replace(' …', '\u00a0…');

/** A cell that sorts by `value` among cells of the same unit; a ratio has none. */
export const scaled = (value: number | null, unit: string | null, content: Interpolated): Markup =>
  value === null
    ? html`<td class="num none">${content}</td>`
    : html`<td class="num" data-sort="${value}" ${unit !== null && html` data-scale="${unit}"`}>${content}</td>`;

const numeric = (value: number | null, shown: (value: number) => string, rest: Interpolated): Markup =>
  value === null || !Number.isFinite(value)
    ? html`<td class="num none">–${rest}</td>`
    : html`<td class="num" data-sort="${value}">${shown(value)}${rest}</td>`;

/** A cell with a measured value. */
export const figure = (value: number | null, rest: Interpolated = null): Markup =>
  numeric(value, (each) => digits(each), rest);

/** A cell with a counted or configured value. */
export const count = (value: number | null): Markup => numeric(value, number, null);

export const spanned = (interval: string | null): Markup | null =>
  interval === null ? null : html`<span class="interval">${unbroken(interval)}</span>`;

export const interval = (ci95: readonly [number, number] | null): Markup | null => spanned(ci95 && range(ci95));

/** A row of a metric, which the page's filter finds by the id. */
export const metricRow = ({ id, name }: Pick<Row, 'id' | 'name'>, cells: Interpolated, verdicts = ''): Markup =>
  html`<tr data-metric="${id}" ${verdicts !== '' && html` data-verdicts="${verdicts}"`}>
    <th scope="row"><span class="id">${id}</span> ${name}</th>
    ${cells}
  </tr>`;
