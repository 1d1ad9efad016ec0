/** When a compute limit is exceeded, and what is said of it. */

/** Relative to the limit. */
export const LIMIT_TOLERANCE = 0.1;

export const isExceeded = (sharePercent: number, limitPercent: number): boolean =>
  sharePercent > (1 + LIMIT_TOLERANCE) * limitPercent;

/** A violation if the share is above the limit and its tolerance. `when` says which time the share is of. */
export function exceeded(sharePercent: number, limitPercent: number, when: string): string[] {
  if (!isExceeded(sharePercent, limitPercent)) return [];
  return [`${sharePercent.toFixed(1)} % of the work without a limit under a limit of ${limitPercent} % (${when})`];
}
