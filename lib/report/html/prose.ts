/** Markup of paragraphs, lists of facts, and commands. */
import { html, type Markup } from '../text/markup.js';

export const paragraphs = (texts: readonly string[]): Markup => html`${texts.map((text) => html`<p>${text}</p> `)}`;

/** Number of characters above which a fact takes more than two lines in its column. */
const LONG = 64;

export const pairs = (list: readonly (readonly [string, string])[]): Markup =>
  html`<dl class="facts">
    ${list.map(
      ([label, value]) =>
        html`<div${value.length > LONG && html` class="broad"`}>
          <dt>${label}</dt>
          <dd>${value}</dd>
        </div> `,
    )}
  </dl> `;

export const items = (texts: readonly string[]): Markup =>
  html`<ul>
    ${texts.map((text) => html`<li>${text}</li> `)}
  </ul> `;
