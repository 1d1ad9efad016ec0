/** Systems for `compareSystems`, as a program gives them. */
import { isMap, rawOf } from './config/raw.js';
import { createSystem, type Surroundings } from './systems/kinds.js';
import type { SystemSettings } from './settings-types.js';
import { parseSystem } from './systems/input/parse.js';
import type { System } from './systems/system.js';

/** Throws TypeError for values that YAML could not express, and the errors of --config for wrong settings. */
export function systemFrom(given: string | SystemSettings, surroundings: Surroundings): System {
  if (typeof given === 'string') return parseSystem(given, surroundings);
  const raw = rawOf(given, 'a system');
  if (raw === undefined || !isMap(raw) || typeof raw.kind !== 'string')
    throw new TypeError(`Expected a system to be its name or an object with kind but received ${typeof given}.`);
  return createSystem(raw.kind, raw, surroundings);
}
