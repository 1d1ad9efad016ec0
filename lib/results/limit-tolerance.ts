/** When a compute limit is exceeded. */

/** A share up to this part above its limit does not exceed it. */
export const LIMIT_TOLERANCE = 0.1;

export const isExceeded = (sharePercent: number, limitPercent: number): boolean =>
  sharePercent > (1 + LIMIT_TOLERANCE) * limitPercent;
