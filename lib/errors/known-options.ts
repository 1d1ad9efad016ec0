/** Refuses options that a library function does not have, because a mistyped one would be ignored. */
import { didYouMean } from './closest.js';
import { expected } from './expected.js';

/** The names of all options of a function. */
export type Known<Options> = Readonly<Record<keyof Options, true>>;

/** Throws TypeError for an option that is not among the known ones, and for options that are no object. */
export function checkOptions<Options>(options: unknown, known: Known<Options>): void {
  if (typeof options !== 'object' || options === null) throw expected('options', 'an object', options, TypeError);
  const names = Object.keys(known);
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(known, name)) continue;
    const hint = didYouMean(name, names, '');
    const received = hint === '' ? `'${name}'.` : `'${name}': ${hint}`;
    throw new TypeError(`Expected options out of ${names.join(', ')} but received ${received}`);
  }
}
