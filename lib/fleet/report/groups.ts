/** Cards that may be compared with each other: the same model, driver, VBIOS and limits. */
import type { CardRow, GroupFacts } from './card-row.js';

export interface Group {
  /** A, B, …, the largest first. */
  id: string;
  facts: GroupFacts;
  rows: readonly CardRow[];
}

export function groupsOf(rows: readonly CardRow[]): Group[] {
  const found = new Map<string, CardRow[]>();
  for (const row of rows) {
    const key = JSON.stringify(row.facts);
    const known = found.get(key);
    if (known) known.push(row);
    else found.set(key, [row]);
  }
  return [...found.values()]
    .sort((a, b) => b.length - a.length)
    .map((each, i) => ({ id: letters(i), facts: (each[0] as CardRow).facts, rows: each }));
}

/** A … Z, AA, AB, … */
const letters = (i: number): string =>
  (i < 26 ? '' : letters(Math.floor(i / 26) - 1)) + String.fromCharCode(65 + (i % 26));
