/** The cost of a neighbour, independent of how much work each of the two does. */

/** The time of two tenants' common work, and the time that each part would have taken alone. */
interface BesideEachOther {
  together: number;
  firstAlone: number;
  secondAlone: number;
}

/**
 * Interference in per cent: 0 if the common work took as long as the longer part alone, 100 if it took as long as both
 * one after the other, more if taking turns would have been faster. Null if one of them did nothing.
 */
export function interferencePercent({ together, firstAlone, secondAlone }: BesideEachOther): number | null {
  const least = Math.max(firstAlone, secondAlone);
  const inTurn = firstAlone + secondAlone;
  return inTurn > least ? (100 * (together - least)) / (inTurn - least) : null;
}

/** Increase from `before` to `after` in per cent; signed. */
export const changePercent = (before: number, after: number): number => 100 * (after / before - 1);

/** Decrease from `before` to `after` in per cent; signed. */
export const lossPercent = (before: number, after: number): number => 100 * (1 - after / before);

/** Decrease of the clock beside the neighbour in per cent; null if NVML does not report it. */
export function clockDropPercent(alone: readonly (number | null)[], together: number | null): number | null {
  const known = alone.filter((mhz) => mhz !== null);
  if (known.length === 0 || together === null) return null;
  const before = known.reduce((sum, mhz) => sum + mhz, 0) / known.length;
  return lossPercent(before, together);
}
