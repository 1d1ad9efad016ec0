/** What accompanies a drawing: keys for its marks, what was left out, and the values as numbers. */
import { html, type Interpolated, type Markup } from '../../text/markup.js';
import { table, type TableOptions } from '../table.js';

export const key = (colour: string, content: Interpolated): Markup =>
  html`<svg class="key" viewBox="0 0 28 12" aria-hidden="true">
    <g stroke="${colour}" fill="${colour}">${content}</g>
  </svg>`;

export const stroke = (dash: 'solid' | readonly number[]): Markup =>
  html`<path d="M0 6h28" ${dash !== 'solid' && html` stroke-dasharray="${dash.join(' ')}"`} />`;

/** A key filled with one colour. */
export const swatch = (fill: string, height: number): Markup =>
  key(fill, html`<rect y="${6 - height / 2}" width="28" height="${height}" stroke="none" />`);

export const legend = (entries: readonly Interpolated[]): Markup =>
  html`<ul class="legend">
    ${entries.map((entry) => entry && html`<li>${entry}</li>`)}
  </ul>`;

/** Shows the drawing's data as a table, because its tips need a script and a pointer. */
export const figures = (content: Markup): Markup =>
  html`<details>
    <summary>In figures</summary>
    ${content}
  </details>`;

export const points = (about: TableOptions): Markup => figures(table(about));

export const without = (names: readonly string[]): Markup | null =>
  names.length === 0 ? null : html`<p class="note">Not drawn for lack of space: ${names.join(', ')}.</p> `;
