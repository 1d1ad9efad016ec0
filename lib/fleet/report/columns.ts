/** The values of one series on all cards of a group, and their spread. */
import type { CardRow } from './card-row.js';
import type { Group } from './groups.js';
import { type Robust, robustOf } from './robust-score.js';

export interface Column {
  group: Group;
  /** Number of the series. */
  series: number;
  rows: CardRow[];
  /** Place of the series in each row. */
  slots: number[];
}

export const valueOf = ({ rows, slots }: Column, i: number): number =>
  (rows[i] as CardRow).values[slots[i] as number] as number;

export const valuesOf = (column: Column): number[] => column.rows.map((_, i) => valueOf(column, i));

/** One for each series, in the order of the catalogue. */
export function columnsOf(group: Group): Column[] {
  const found = new Map<number, Column>();
  for (const row of group.rows)
    for (const [slot, series] of row.series.entries()) {
      let column = found.get(series);
      if (column === undefined) found.set(series, (column = { group, series, rows: [], slots: [] }));
      column.rows.push(row);
      column.slots.push(slot);
    }
  return [...found.values()].sort((a, b) => a.series - b.series);
}

interface End {
  value: number;
  row: CardRow;
}

export interface Spread extends Robust {
  column: Column;
  min: End;
  max: End;
}

export function spreadOf(column: Column): Spread {
  const values = valuesOf(column);
  let [least, most] = [0, 0];
  for (const [i, value] of values.entries()) {
    if (value < (values[least] as number)) least = i;
    if (value > (values[most] as number)) most = i;
  }
  const end = (i: number): End => ({ value: values[i] as number, row: column.rows[i] as CardRow });
  return { column, ...robustOf(values), min: end(least), max: end(most) };
}
