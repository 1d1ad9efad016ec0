/** What a tenant did and when, and when several did it at the same time. Activities that are compared share a clock. */

export interface Activity {
  startNs: number;
  endNs: number;
  /** When a piece of its work was done: empty where it cannot say. */
  marksNs: readonly number[];
}

export interface Span {
  fromNs: number;
  toNs: number;
}

/** From the last start to the first end; null where there is no such time. */
export function overlap(activities: readonly Pick<Activity, 'startNs' | 'endNs'>[]): Span | null {
  if (activities.length === 0) return null;
  const fromNs = Math.max(...activities.map(({ startNs }) => startNs));
  const toNs = Math.min(...activities.map(({ endNs }) => endNs));
  return toNs > fromNs ? { fromNs, toNs } : null;
}

/** As `overlap`, but null as well where one of them did nothing in that time. */
export function overlapAtWork(activities: readonly Activity[]): Span | null {
  const span = overlap(activities);
  const worked = ({ marksNs }: Activity) => marksNs.some((ns) => span && ns >= span.fromNs && ns <= span.toNs);
  return span && activities.every(worked) ? span : null;
}
