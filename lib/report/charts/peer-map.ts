/** Draws GPUs by GPUs; darker means faster. */
import { number } from '../../results/text/plain.js';
import { fastestOf, type PeerMatrix } from '../tables/peer-matrix.js';
import { cellMapDrawing } from './cell-map.js';
import type { Drawing } from './svg.js';

/** Draws a matrix; null if it has more GPUs than a drawing holds. */
export function peerDrawing(matrix: PeerMatrix): Drawing | null {
  const { metric, system, gpus, cells } = matrix;
  const names = gpus.map((gpu) => `GPU ${gpu}`);
  const most = fastestOf(matrix);
  return cellMapDrawing({
    rows: names,
    columns: names,
    label: `${metric}, ${system}: GB/s from each GPU to each other one`,
    cells: cells.map((row, from) =>
      row.map((cell, to) => {
        const text = cell ? number(Math.round(10 * cell.gbs) / 10) : '–';
        const way = `${names[from] ?? ''} to ${names[to] ?? ''}`;
        return {
          percent: cell && most > 0 ? (100 * cell.gbs) / most : null,
          text,
          said: cell ? `${way}: ${text} GB/s, ${cell.connection}` : `${way}: –`,
        };
      }),
    ),
  });
}
