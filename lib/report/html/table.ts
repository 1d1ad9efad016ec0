/** Tables: captions, scopes, numbers that line up, and a region to scroll in where the screen is narrow. */
import { html, type Interpolated, type Markup } from '../markup.js';
import { number } from '../../results/plain.js';
import { digits, range } from '../../results/quantity.js';
import type { Row } from '../../results/view.js';

/** Fewer columns would drift apart over the width of a page. */
const SPARSE = 4;

export interface Heading {
  title: string;
  numeric?: boolean;
  /** Cells it stands over, in a table with two rows of headings. */
  span?: number;
}

export interface TableOptions {
  caption: string;
  /** Over the headings of the columns, where columns belong together. */
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

/** A sign, and the end of an interval, stay with what follows where a line breaks. */
export const unbroken = (said: string): string => said.replace(/([×<]) /g, '$1\u00a0').replace(' …', '\u00a0…');

/** Sorted by `value` among those of its scale, which the unit is and a ratio has none. */
export const scaled = (value: number | null, unit: string | null, content: Interpolated): Markup =>
  value === null
    ? html`<td class="num none">${content}</td>`
    : html`<td class="num" data-sort="${value}" ${unit !== null && html` data-scale="${unit}"`}>${content}</td>`;

const numeric = (value: number | null, shown: (value: number) => string, rest: Interpolated): Markup =>
  value === null || !Number.isFinite(value)
    ? html`<td class="num none">–${rest}</td>`
    : html`<td class="num" data-sort="${value}">${shown(value)}${rest}</td>`;

/** Of what was measured. */
export const figure = (value: number | null, rest: Interpolated = null): Markup =>
  numeric(value, (each) => digits(each), rest);

/** Of what was counted or configured. */
export const count = (value: number | null): Markup => numeric(value, number, null);

export const spanned = (interval: string | null): Markup | null =>
  interval === null ? null : html`<span class="interval">${unbroken(interval)}</span>`;

export const interval = (ci95: readonly [number, number] | null): Markup | null => spanned(ci95 && range(ci95));

/** A row of a metric, which filtering finds by its id. */
export const metricRow = ({ id, name }: Pick<Row, 'id' | 'name'>, cells: Interpolated, verdicts = ''): Markup =>
  html`<tr data-metric="${id}" ${verdicts !== '' && html` data-verdicts="${verdicts}"`}>
    <th scope="row"><span class="id">${id}</span> ${name}</th>
    ${cells}
  </tr>`;
