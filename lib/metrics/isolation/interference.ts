/** What a neighbour costs, independent of how much work each of the two does. */

/** The time that the common work of two tenants took, and the time that each part would have taken alone. */
export interface BesideEachOther {
  together: number;
  firstAlone: number;
  secondAlone: number;
}

/**
 * In per cent: 0 where it took as long as the longer of the two alone, 100 where it took as long as both one after the
 * other, more where it would have been better to take turns. Null where one of them did nothing.
 */
export function interferencePercent({ together, firstAlone, secondAlone }: BesideEachOther): number | null {
  const least = Math.max(firstAlone, secondAlone);
  const inTurn = firstAlone + secondAlone;
  return inTurn > least ? (100 * (together - least)) / (inTurn - least) : null;
}

/** Signed: by how many per cent `after` is more than `before`. */
export const changePercent = (before: number, after: number): number => 100 * (after / before - 1);

/** Signed: by how many per cent `after` is less than `before`. */
export const lossPercent = (before: number, after: number): number => 100 * (1 - after / before);

/** By how many per cent the clock was lower beside the neighbour; null where NVML does not tell. */
export function clockDropPercent(alone: readonly (number | null)[], together: number | null): number | null {
  const known = alone.filter((mhz) => mhz !== null);
  if (known.length === 0 || together === null) return null;
  const before = known.reduce((sum, mhz) => sum + mhz, 0) / known.length;
  return lossPercent(before, together);
}
