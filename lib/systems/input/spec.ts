/** A system's settings as an argument of `--system`, so that it can be measured again. */
import { resolve } from 'node:path';
import { isMap, type RawMap, type RawValue } from '../../config/raw.js';
import { NOT_RECORDED } from '../../results/document.js';

/** Rather too broad, because there is no standard for the names of secrets. */
const secret = /TOKEN|SECRET|PASS|CREDENTIAL|KEY|PRIVATE|AUTH/i;

export const isSecret = (variable: string): boolean => secret.test(variable);

/** A document is shared more widely than a shell's environment. */
export const publicValue = (name: string, value: string): string => (isSecret(name) ? NOT_RECORDED : value);

/**
 * Null for settings that only a file can express, such as the proofs of a custom system. Relative paths are relative to
 * `folder`.
 */
export function specOf(kind: string, { library, ...settings }: RawMap, folder: string): string | null {
  const found = typeof library === 'string' ? { library: resolve(folder, library), ...settings } : settings;
  const pairs = Object.entries(found).flatMap(([key, value]) => pairsOf(key, value) ?? [null]);
  if (pairs.includes(null)) return null;
  return pairs.length === 0 ? kind : `${kind}:${pairs.join(',')}`;
}

function pairsOf(key: string, value: RawValue): string[] | null {
  if (typeof value === 'string') {
    // A trailing backslash would escape the comma that follows it.
    return value.endsWith('\\') ? null : [`${key}=${publicValue(key, value).replaceAll(',', '\\,')}`];
  }
  const entries: [string, RawValue][] = isMap(value)
    ? Object.entries(value).map(([name, inner]) => [`${key}.${name}`, inner])
    : value.map((inner) => [key, inner]);
  const pairs = entries.map(([name, inner]) => (typeof inner === 'string' ? pairsOf(name, inner) : null));
  return pairs.includes(null) ? null : pairs.flatMap((each) => each ?? []);
}
