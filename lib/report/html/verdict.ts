/** A verdict as a word with a shape and a colour. */
import type { Effect } from '../../results/document.js';
import { verdictShapes } from '../charts/verdict-marks.js';
import type { Verdict } from '../../results/text/effect-text.js';
import { html, type Markup } from '../text/markup.js';

function icon(verdict: Verdict): Markup {
  const { d, isHollow } = verdictShapes[verdict];
  return html`<svg class="icon" viewBox="0 0 10 10" aria-hidden="true">
    <path d="${d}" ${isHollow && html` class="hollow"`} />
  </svg>`;
}

export const verdictBadge = (verdict: Verdict): Markup =>
  html`<span class="verdict ${verdict}">${icon(verdict)}${verdict}</span>`;

/** The verdict with its reason, if the document has one. */
export const judgement = ({ verdict, reason }: Effect): Markup =>
  html`${verdictBadge(verdict)}${reason !== undefined && html`<span class="reason">${reason}</span>`}`;

/** Meanings of verdicts, in the order in which the rule decides. */
export const meanings: Record<Verdict, string> = {
  same: 'shown to be too small to count',
  slower: 'shown to be worse',
  faster: 'shown to be better',
  inconclusive: 'neither is shown: measure more rounds',
  invalid: 'not comparable',
};
