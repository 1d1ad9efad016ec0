/** What a reader must know before any number. It is printed on every page. */
import type { ResultDocument } from '../../results/kinds.js';
import { incompleteText } from '../tables/incomplete.js';
import { html, type Markup } from '../text/markup.js';
import { WATERMARK } from '../formats/terminal.js';
import { sentence } from './bounds.js';

export const simulatedNotice = html`<p class="notice simulated" role="note">${WATERMARK}</p> `;

export function incompleteNotice(document: ResultDocument): Markup | null {
  const text = incompleteText(document);
  return text === null ? null : html`<p class="notice interrupted" role="note">${sentence(text)}</p> `;
}

/** The watermark is a drawing, because printers omit backgrounds. */
export const watermark = html`<svg class="watermark" width="100%" height="100%" aria-hidden="true">
  <defs>
    <pattern id="watermark" width="500" height="200" patternUnits="userSpaceOnUse" patternTransform="rotate(-24)">
      <text x="0" y="60">SIMULATED GPU</text>
      <text x="250" y="160">SIMULATED GPU</text>
    </pattern>
  </defs>
  <rect width="100%" height="100%" fill="url(#watermark)" />
</svg> `;
