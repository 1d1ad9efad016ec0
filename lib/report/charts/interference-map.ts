/** Victims by aggressors, darker means a larger loss. */
import { number } from '../../results/plain.js';
import type { InterferenceMap, Pair } from '../isolation/interference.js';
import { cellMapDrawing } from './cell-map.js';
import type { Drawing } from './svg.js';

const said = (pair: Pair | null): string => {
  if (pair === null) return 'not tried';
  return pair.percent === null ? pair.reason || 'no value' : `${number(pair.percent)} %`;
};

/** Null for a map with too many rows or columns for a drawing. */
export function interferenceDrawing({ metric, system, victims, aggressors, cells }: InterferenceMap): Drawing | null {
  return cellMapDrawing({
    rows: victims,
    columns: aggressors,
    label: `${metric}, ${system}: loss of each victim beside each aggressor`,
    cells: cells.map((row, at) =>
      row.map((pair, column) => ({
        percent: pair?.percent ?? null,
        text: said(pair),
        said: `${victims[at] ?? ''} beside ${aggressors[column] ?? ''}: ${said(pair)}`,
      })),
    ),
  });
}
