/** Draws victims by aggressors; darker means a larger loss. */
import { type InterferenceMap, type Pair, pairText } from '../isolation/interference.js';
import { cellMapDrawing } from './cell-map.js';
import type { Drawing } from './svg.js';

const said = (pair: Pair | null): string => (pair === null ? 'not tried' : pairText(pair) || 'no value');

/** Draws a map; null if it has too many rows or columns. */
export function interferenceDrawing({ metric, system, victims, aggressors, cells }: InterferenceMap): Drawing | null {
  return cellMapDrawing({
    rows: victims,
    columns: aggressors,
    label: `${metric}, ${system}: loss of each victim beside each aggressor`,
    cells: cells.map((row, at) =>
      row.map((pair, column) => ({
        percent: pair?.percent ?? null,
        text: pair?.isQueue ? 'overloaded' : said(pair),
        said: `${victims[at] ?? ''} beside ${aggressors[column] ?? ''}: ${said(pair)}`,
      })),
    ),
  });
}
