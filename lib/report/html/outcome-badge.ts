/** An outcome as a word with a shape and a colour. */
import type { Outcome, State } from '../isolation/outcome-kinds.js';
import { html, type Markup } from '../text/markup.js';

/** Shapes in a box of side 10; null if there is nothing to judge. */
const shapes: Record<State, string | null> = {
  good: 'M1 5l3 3 5-6',
  bad: 'M1 1l8 8M9 1L1 9',
  unclear: 'M1 5a4 4 0 1 0 8 0a4 4 0 1 0-8 0z',
  none: 'M1 5h8',
  plain: null,
};

/** Longest word that stays on the line of its mark; longer ones may wrap. */
const SHORT = 16;

export function outcomeBadge({ state, word }: Outcome): Markup {
  const shape = shapes[state];
  const icon =
    shape !== null &&
    html`<svg class="icon" viewBox="0 0 10 10" aria-hidden="true"><path d="${shape}" class="hollow" /></svg>`;
  return html`<span class="outcome ${state}${word.length <= SHORT && html` whole`}">${icon}${word}</span>`;
}
