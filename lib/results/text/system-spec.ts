/** A system as an argument of `--system`. */
import type { SystemView } from '../view.js';

/** Null if the document does not hold its settings. Only `native` needs no more than its name. */
export function specOf({ name, rounds }: Pick<SystemView, 'name' | 'rounds'>): string | null {
  const spec = rounds.map(({ system }) => system.spec).find((each) => each !== undefined);
  return spec ?? (name === 'native' ? name : null);
}
