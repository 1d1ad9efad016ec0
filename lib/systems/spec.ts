/** A system's settings as `--system` takes them, for whoever wants to measure the same again. */
import { isMap, type RawMap, type RawValue } from '../config/values.js';

const secret = /TOKEN|SECRET|PASSW|CREDENTIAL|API_?KEY|PRIVATE/i;

/** A document is shared more widely than a shell's environment. */
export const publicValue = (name: string, value: string): string => (secret.test(name) ? '(not recorded)' : value);

/** Null for what only a file can say, such as the proofs of a custom system. */
export function specOf(kind: string, settings: RawMap): string | null {
  const pairs = Object.entries(settings).flatMap(([key, value]) => pairsOf(key, value) ?? [null]);
  if (pairs.includes(null)) return null;
  return pairs.length === 0 ? kind : `${kind}:${pairs.join(',')}`;
}

function pairsOf(key: string, value: RawValue): string[] | null {
  if (typeof value === 'string') return [`${key}=${publicValue(key, value).replaceAll(',', '\\,')}`];
  const entries: [string, RawValue][] = isMap(value)
    ? Object.entries(value).map(([name, inner]) => [`${key}.${name}`, inner])
    : value.map((inner) => [key, inner]);
  if (!entries.every((entry): entry is [string, string] => typeof entry[1] === 'string')) return null;
  return entries.flatMap(([name, inner]) => pairsOf(name, inner) ?? []);
}
