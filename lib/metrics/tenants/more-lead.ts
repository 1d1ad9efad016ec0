/** Attempts with a common start, repeated with more lead time: on a busy host a process may not be ready in time. */

interface Attempted<T> {
  /** What the last attempt gave. */
  found: T;
  isLate: boolean;
  tries: number;
}

/**
 * Tries the leads in turn until an attempt was not late. `isLate` must not depend on what is measured, or repeating
 * would bias it. Throws RangeError without leads.
 */
export async function withMoreLead<T>(
  leads: readonly number[],
  attempt: (lead: number) => Promise<T>,
  isLate: (found: T) => boolean,
): Promise<Attempted<T>> {
  let last: Attempted<T> | null = null;
  for (const [i, lead] of leads.entries()) {
    const found = await attempt(lead);
    last = { found, isLate: isLate(found), tries: i + 1 };
    if (!last.isLate) return last;
  }
  if (!last) throw new RangeError('Expected at least one lead but received none.');
  return last;
}
