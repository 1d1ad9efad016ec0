/** Settings before they are read: text, lists and maps, from a file, the command line or a program. */
import { quoted } from '../errors/usage-error.js';

export type RawValue = string | RawValue[] | RawMap;
export interface RawMap {
  [key: string]: RawValue;
}

export const isMap = (value: RawValue | null): value is RawMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What an error says was received. */
export function shown(value: RawValue | undefined): string {
  if (typeof value === 'string') return quoted(value);
  if (value === undefined) return 'nothing';
  if (!Array.isArray(value)) return 'a map';
  return value.length === 0 ? 'an empty list' : 'a list';
}

/**
 * Converts the scalars of a program's settings to text, as a file would give them. `what` names the settings. Throws
 * TypeError for values that YAML could not express.
 */
export function rawOf(value: unknown, what: string): RawValue | undefined {
  if (value === undefined || typeof value === 'string') return value;
  if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) return String(value);
  if (Array.isArray(value)) return value.map((each: unknown) => rawOf(each, `an entry of ${what}`) ?? '');
  const prototype: unknown = typeof value === 'object' && value !== null ? Object.getPrototypeOf(value) : undefined;
  if (prototype !== Object.prototype && prototype !== null)
    throw new TypeError(
      `Expected ${what} to be text, a number, a list or an object but received ${value === null ? 'null' : typeof value}.`,
    );
  const entries = Object.entries(value as object).flatMap(([key, inner]: [string, unknown]) => {
    const raw = rawOf(inner, `${key} of ${what}`);
    return raw === undefined ? [] : [[key, raw] as const];
  });
  return Object.fromEntries(entries) as RawMap;
}
