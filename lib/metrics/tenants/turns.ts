/** Turns of tenants that are never on the card at the same time, told by what they did. */
import type { Span } from '../../workers/activity.js';

/** When each tenant did something, in ns, sorted. */
export type Times = readonly (readonly number[])[];

interface Deed {
  ns: number;
  tenant: number;
}

interface Change {
  /** The last that the tenant before did, and the first of the one whose turn begins. */
  before: Deed;
  first: Deed;
}

export function changesIn(tenants: Times): Change[] {
  const deeds = tenants.flatMap((times, tenant) => times.map((ns) => ({ ns, tenant })));
  deeds.sort((a, b) => a.ns - b.ns);
  return deeds.slice(1).flatMap((first, i) => {
    const before = deeds[i] as Deed;
    return before.tenant === first.tenant ? [] : [{ before, first }];
  });
}

/** The longest time inside that begins and ends with a turn of the same tenant; null if none begins twice. */
export function wholeCycles(tenants: Times, { fromNs, toNs }: Span): Span | null {
  const begins = changesIn(tenants).filter(({ first: { ns } }) => ns >= fromNs && ns <= toNs);
  const spans = tenants.flatMap((_, tenant) => {
    const own = begins.filter(({ first }) => first.tenant === tenant).map(({ first }) => first.ns);
    return own.length < 2 ? [] : [{ fromNs: own[0] as number, toNs: own.at(-1) as number }];
  });
  return spans.sort((a, b) => b.toNs - b.fromNs - (a.toNs - a.fromNs))[0] ?? null;
}
