/** What a reader must know before any number; printed on every page. */
import { html } from '../markup.js';
import { WATERMARK } from '../terminal.js';

export const simulatedNotice = html`<p class="notice simulated" role="note">${WATERMARK}</p> `;

export const interruptedNotice = html`<p class="notice interrupted" role="note">
  Interrupted: this document contains only what was measured until then.
</p> `;

/** A drawing instead of a background, which printers omit. */
export const watermark = html`<svg class="watermark" width="100%" height="100%" aria-hidden="true">
  <defs>
    <pattern id="watermark" width="500" height="200" patternUnits="userSpaceOnUse" patternTransform="rotate(-24)">
      <text x="0" y="60">SIMULATED GPU</text>
      <text x="250" y="160">SIMULATED GPU</text>
    </pattern>
  </defs>
  <rect width="100%" height="100%" fill="url(#watermark)" />
</svg> `;
