/** Quantiles of sorted values by linear interpolation between ranks. */

/** The value at a rank from 1, between two of them in proportion; ranks beyond the ends are the ends. */
export function rankedAt(sorted: ArrayLike<number>, rank: number): number {
  const bounded = Math.min(Math.max(rank, 1), sorted.length);
  const below = Math.floor(bounded);
  const low = sorted[below - 1] as number;
  const part = bounded - below;
  return part === 0 ? low : low + part * ((sorted[below] as number) - low);
}

/**
 * R's type 8, whose estimate has nearly the same median error for every distribution (R. J. Hyndman & Y. Fan, 1996).
 * Expects ascending values, one or more.
 */
export const quantile = (sorted: ArrayLike<number>, p: number): number =>
  rankedAt(sorted, (sorted.length + 1 / 3) * p + 1 / 3);
