/** The systems to decide between. */
import { listed } from '../errors/listed.js';
import { isNative } from '../results/recorded-kind.js';
import type { SystemView, View } from '../results/view.js';

const isBare = ({ rounds }: SystemView): boolean => isNative(rounds[0]);

/** Returns all systems but native, which is the reference and no candidate, unless nothing else was measured. */
export function candidatesOf({ systems }: View): SystemView[] {
  const others = systems.filter((system) => !isBare(system));
  return others.length > 0 ? others : [...systems];
}

const MOST_NAMED = 3;

/** Joins names to `a, b and c`. If there are many, only the first three are named. */
export function named(names: readonly string[], last: 'and' | 'or' = 'and'): string {
  const more = names.length - MOST_NAMED;
  const all = more > 1 ? [...names.slice(0, MOST_NAMED), `${more} more`] : names;
  return listed(all, last);
}
