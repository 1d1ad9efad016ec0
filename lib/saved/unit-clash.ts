/** Detects a metric with values in two units, which would share a column. */
import type { RunDocument } from '../results/document.js';

/** E.g. `OH-001 is in us and in ms`, or null. */
export function unitClash(rounds: readonly RunDocument[]): string | null {
  const units = new Map<string, string>();
  for (const { id, unit } of rounds.flatMap(({ metrics }) => metrics)) {
    const known = units.get(id) ?? unit;
    if (known !== unit) return `${id} is in ${known} and in ${unit}`;
    units.set(id, unit);
  }
  return null;
}
