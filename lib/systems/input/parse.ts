/** Parses a system from the command line: `native`, `hami-core:library=/path,memory=10GiB,sm=50`. */
import { quoted, UsageError } from '../../errors/usage-error.js';
import { checkLabels, createSystem, findKind, formOfKey, here, type Surroundings } from '../kinds.js';
import type { System } from '../system.js';
import { isMap, type RawMap, type RawValue } from '../../config/raw.js';

/** All systems of one command line. */
export function parseSystems(texts: readonly string[], surroundings = here()): System[] {
  const systems = texts.map((text) => parseSystem(text, surroundings));
  checkLabels(systems);
  return systems;
}

export function parseSystem(text: string, surroundings: Surroundings = here()): System {
  const colon = text.indexOf(':');
  const kind = colon < 0 ? text : text.slice(0, colon);
  return createSystem(kind, colon < 0 ? {} : parsePairs(kind, text.slice(colon + 1)), surroundings);
}

/** Pairs are separated by commas; `\,` is a comma in a value, and a value may contain further `=`. */
function parsePairs(kindName: string, text: string): RawMap {
  const kind = findKind(kindName);
  // The object has no prototype, so that a key such as __proto__ is refused like any other.
  const settings = Object.create(null) as RawMap;
  for (const pair of text.split(/(?<!\\),/)) {
    const [, key, value] = /^([^=]+)=(.+)$/s.exec(pair.replaceAll('\\,', ',')) ?? [];
    if (key === undefined || value === undefined)
      throw new UsageError(`Expected ${kindName} to have settings key=value but received ${quoted(pair)}.`);
    const [first = '', ...rest] = key.split('.');
    const nested = rest.join('.');
    if (nested !== '' && formOfKey(kind, first) === 'map')
      put(mapOf(settings, first, kindName), nested, value, kindName);
    else if (formOfKey(kind, key) === 'list')
      settings[key] = [...((settings[key] as RawValue[] | undefined) ?? []), value];
    else put(settings, key, value, kindName);
  }
  return settings;
}

function mapOf(settings: RawMap, key: string, kind: string): RawMap {
  const map = settings[key] ?? (Object.create(null) as RawMap);
  if (!isMap(map)) throw new UsageError(`Expected ${key} of ${kind} once but received it as text and as a map.`);
  settings[key] = map;
  return map;
}

function put(settings: RawMap, key: string, value: string, kind: string): void {
  if (key in settings) throw new UsageError(`Expected ${key} of ${kind} once but received it twice.`);
  settings[key] = value;
}
