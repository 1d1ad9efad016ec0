import { isExceeded } from '../../../results/limit-tolerance.js';

/** A violation if the share is above the limit and its tolerance. `when` says which time the share is of. */
export function exceeded(sharePercent: number, limitPercent: number, when: string): string[] {
  if (!isExceeded(sharePercent, limitPercent)) return [];
  return [`${sharePercent.toFixed(1)} % of the work without a limit under a limit of ${limitPercent} % (${when})`];
}
