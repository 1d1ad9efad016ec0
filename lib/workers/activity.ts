/** What a tenant did and when, and when several tenants ran at the same time. Compared activities share a clock. */

export interface Activity {
  startNs: number;
  endNs: number;
  /** When parts of its work were done; empty if unknown. */
  marksNs: readonly number[];
}

export interface Span {
  fromNs: number;
  toNs: number;
}

/** The time from the last start to the first end; null if the activities did not overlap. */
export function overlap(activities: readonly Pick<Activity, 'startNs' | 'endNs'>[]): Span | null {
  if (activities.length === 0) return null;
  const fromNs = Math.max(...activities.map(({ startNs }) => startNs));
  const toNs = Math.min(...activities.map(({ endNs }) => endNs));
  return toNs > fromNs ? { fromNs, toNs } : null;
}

/** Like `overlap`, but also null if one of them did nothing in that time. */
export function overlapAtWork(activities: readonly Activity[]): Span | null {
  const span = overlap(activities);
  const worked = ({ marksNs }: Activity) => marksNs.some((ns) => span && ns >= span.fromNs && ns <= span.toNs);
  return span && activities.every(worked) ? span : null;
}
