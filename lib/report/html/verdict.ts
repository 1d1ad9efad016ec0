/** A verdict as a word, a shape and a colour. The shapes are those of the forest plot. */
import type { Effect } from '../../document.js';
import type { Verdict } from '../effect-text.js';
import { html, type Markup } from '../markup.js';

const shapes: Record<Verdict, Markup> = {
  slower: html`<path d="M1 0l9 5-9 5z" />`,
  faster: html`<path d="M9 0L0 5l9 5z" />`,
  same: html`<circle cx="5" cy="5" r="4.5" />`,
  ambiguous: html`<circle cx="5" cy="5" r="4" class="hollow" />`,
  invalid: html`<path d="M1 1l8 8M9 1L1 9" class="hollow" />`,
};

const icon = (shape: Markup): Markup => html`<svg class="icon" viewBox="0 0 10 10" aria-hidden="true">${shape}</svg>`;

export const verdictBadge = (verdict: Verdict): Markup =>
  html`<span class="verdict ${verdict}">${icon(shapes[verdict])}${verdict}</span>`;

/** With what made it so, where the document says it. */
export const judgement = ({ verdict, reason }: Effect): Markup =>
  html`${verdictBadge(verdict)}${reason !== undefined && html`<span class="reason">${reason}</span>`}`;

export const meanings: Record<Verdict, string> = {
  slower: 'worse beyond the smallest difference that counts',
  faster: 'better beyond it',
  same: 'the whole interval within it',
  ambiguous: 'the interval reaches across it: more rounds would tell',
  invalid: 'not comparable',
};
