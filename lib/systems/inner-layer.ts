/** A system inside another one: each kind says in which others it can be, and why not. */
import type { Place } from '../config/setting-place.js';
import { isMap, type RawMap } from '../config/raw.js';
import type { Inner, Kind } from './kinds/define.js';
import type { System } from './system.js';

interface Around {
  /** The outer kind. */
  outer: string;
  place: Place;
  kinds: Readonly<Record<string, Kind>>;
  create: (kind: string, settings: RawMap) => System;
}

/** Checks the setting `layer` of a system. */
export function innerLayer(given: RawMap, { outer, place, kinds, create }: Around): Inner {
  const { kind = 'native', ...settings } = unfolded(given);
  const answer = (name: string) => (Object.hasOwn(kinds, name) ? kinds[name]?.inside?.[outer] : undefined);
  const found = typeof kind === 'string' ? answer(kind) : undefined;
  const why =
    typeof found === 'function'
      ? found(settings)
      : found === true
        ? null
        : (found ?? 'nothing is known of that combination');
  if (typeof kind !== 'string' || why !== null) {
    const fitting = Object.keys(kinds).filter((name) => typeof (answer(name) ?? '') !== 'string');
    throw place.expected('layer', `a system of kind ${fitting.join(', ')}`, `${why}.`);
  }
  if (Object.hasOwn(settings, 'name')) throw place.error('layer', `Expected name of ${outer}, not of its layer.`);
  return { settings, create: (name) => place.within('layer', () => create(kind, { ...settings, name })) };
}

/** The command line writes entries of maps `layer.env.NAME=value`. */
function unfolded(settings: RawMap): RawMap {
  const result: RawMap = Object.create(null) as RawMap;
  for (const [name, value] of Object.entries(settings)) {
    const dot = name.indexOf('.');
    const [outer, inner] = dot < 0 ? [name, null] : [name.slice(0, dot), name.slice(dot + 1)];
    const entries = result[outer];
    if (inner === null) result[outer] = value;
    else result[outer] = { ...(entries !== undefined && isMap(entries) && entries), [inner]: value };
  }
  return result;
}
