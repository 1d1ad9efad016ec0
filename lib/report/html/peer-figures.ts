/** The matrix of rates between GPUs, by system. */
import { peerDrawing } from '../charts/peer-map.js';
import { svg } from '../charts/svg.js';
import { html, type Markup } from '../markup.js';
import { type PeerMatrix, peerMatrices } from '../peer-matrix.js';
import type { View } from '../../results/view.js';
import { heatLegend } from './figures.js';
import { points } from './legend.js';
import { figure, table } from './table.js';

function peerFigure(matrix: PeerMatrix): Markup {
  const { metric, system, gpus, cells } = matrix;
  const title = `GB/s from each GPU to each other one, ${system}`;
  const drawing = peerDrawing(matrix);
  const names = gpus.map((gpu) => `GPU ${gpu}`);
  const inFigures = {
    caption: `${title}: medians, and what is between them`,
    headings: [{ title: 'From' }, ...names.map((name) => ({ title: `to ${name}`, numeric: true }))],
    rows: cells.map(
      (row, from) =>
        html`<tr>
          <th scope="row">${names[from]}</th>
          ${row.map((cell) =>
            cell
              ? figure(cell.gbs, [html`<span class="interval">${cell.connection}</span>`])
              : html`<td class="none">–</td>`,
          )}
        </tr>`,
    ),
  };
  return html`<figure class="wide" data-metric="${metric}">
    <figcaption>
      <strong><span class="id">${metric}</span> ${title}</strong>; colours are per cent of the fastest pair
    </figcaption>
    ${
      drawing &&
      html`${heatLegend('no value')}
        <div class="scroll map" role="region" tabindex="0" aria-label="${title}, drawn">${svg(drawing)}</div>`
    }
    ${drawing ? points(inFigures) : table(inFigures)}
  </figure> `;
}

/** Of a category's metrics. */
export const peerFigures = (view: View, metrics: readonly string[]): Markup[] =>
  peerMatrices(view)
    .filter(({ metric }) => metrics.includes(metric))
    .map(peerFigure);
