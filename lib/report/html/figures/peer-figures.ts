/** The matrix of rates between GPUs, by system. */
import { peerDrawing } from '../../charts/peer-map.js';
import { svg } from '../../charts/svg.js';
import { html, type Markup } from '../../text/markup.js';
import { type PeerMatrix, peerMatrices, peerTable } from '../../tables/peer-matrix.js';
import type { View } from '../../../results/view.js';
import { dataTable } from '../data-table.js';
import { heatLegend } from './figures.js';
import { figures } from './legend.js';

function peerFigure(matrix: PeerMatrix): Markup {
  const { metric, system } = matrix;
  const title = `GB/s from each GPU to each other one, ${system}`;
  const drawing = peerDrawing(matrix);
  const inFigures = dataTable(peerTable(matrix));
  return html`<figure class="wide" data-metric="${metric}">
    <figcaption>
      <strong><span class="id">${metric}</span> ${title}</strong>; colours are per cent of the fastest pair
    </figcaption>
    ${
      drawing &&
      html`${heatLegend('no value')}
        <div class="scroll map" role="region" tabindex="0" aria-label="${title}, drawn">${svg(drawing)}</div>`
    }
    ${drawing ? figures(inFigures) : inFigures}
  </figure> `;
}

/** Draws the matrices of a category's metrics. */
export const peerFigures = (view: View, metrics: readonly string[]): Markup[] =>
  peerMatrices(view)
    .filter(({ metric }) => metrics.includes(metric))
    .map(peerFigure);
