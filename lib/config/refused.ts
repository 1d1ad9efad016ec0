/** A value that was not read. */
import { quoted, UsageError } from '../errors/usage-error.js';

/** Why: what the value has to be, in words, and a hint, or an empty text. */
export class Refused {
  constructor(
    readonly what: string,
    readonly hint = '',
  ) {}
}

/** Throws UsageError if `value` is refused. `what` names the setting or option. */
export function granted<T>(value: T | Refused, what: string, text: string): T {
  if (!(value instanceof Refused)) return value;
  throw new UsageError(
    `Expected ${what} to be ${value.what} but received ${quoted(text)}${value.hint === '' ? '.' : `: ${value.hint}`}`,
  );
}
