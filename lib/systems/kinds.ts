/** Finds a kind of system by its name, and creates a system of it from settings. */
import { formOf } from '../config/form.js';
import { Place } from '../config/setting-place.js';
import type { RawMap, RawValue } from '../config/raw.js';
import { read } from '../config/read.js';
import { didYouMean } from '../errors/closest.js';
import { quoted, UsageError } from '../errors/usage-error.js';
import { NOT_RECORDED } from '../results/document.js';
import { callerEnvironment } from './process/environment.js';
import type { Kind, Surroundings } from './kinds/define.js';
import { innerLayer } from './inner-layer.js';
import { specOf } from './input/spec.js';
import { kinds } from './registry.js';
import type { System } from './system.js';
import { nameOfLabel } from './system-name.js';

export type { Surroundings } from './kinds/define.js';

export const here = (): Surroundings => ({ caller: callerEnvironment(), folder: process.cwd() });

const kindNames = Object.keys(kinds);

export function findKind(name: string): Kind {
  const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
  if (kind) return kind;
  const hint = didYouMean(name, kindNames, `there are ${kindNames.join(', ')}.`);
  throw new UsageError(`Expected a kind of system but received ${quoted(name)}: ${hint}`);
}

export function createSystem(kindName: string, raw: RawMap, surroundings: Surroundings): System {
  const kind = findKind(kindName);
  const { kind: _, ...given } = raw;
  refuseUnrecorded(kindName, given);
  const { folder } = surroundings;
  const place = new Place(given, kindName);
  const settings = read(kind.settings, place);
  const { name = kindName } = settings as { name?: string };
  const around = [...(surroundings.around ?? []), kindName];
  const create = (layer: string, own: RawMap) => createSystem(layer, own, { ...surroundings, around });
  const inside = (layer: RawMap) => innerLayer(layer, { around, place, kinds, create });
  return Object.assign(kind.create({ settings, place, name, surroundings, inside }), {
    spec: specOf(kindName, given, folder),
    source: { kind: kindName, settings: given, resolved: kind.resolved?.(given, folder) ?? given, folder },
  });
}

/** Whether the command line repeats a key, or writes its entries as `env.NAME=value`. */
export const formOfKey = ({ settings: { entries } }: Kind, key: string): 'list' | 'map' | null => {
  const schema = Object.hasOwn(entries, key) ? entries[key] : undefined;
  return schema === undefined ? null : formOf(schema);
};

/** A stored file or command lacks its secrets, and would be measured with this text in their place. */
function refuseUnrecorded(what: string, value: RawValue): void {
  if (value === NOT_RECORDED)
    throw new UsageError(
      `${what} is ${NOT_RECORDED}: it is a secret, which results do not store. Replace it by its value.`,
    );
  if (typeof value !== 'string')
    for (const [key, inner] of Object.entries<RawValue>(value)) refuseUnrecorded(`${key} of ${what}`, inner);
}

/**
 * Systems with equal names, or names that differ only in case, could not be distinguished in documents or on some file
 * systems.
 */
export function checkLabels(systems: readonly System[]): void {
  const seen = new Set<string>();
  for (const { name } of systems) {
    const folded = nameOfLabel(name).toLowerCase();
    if (seen.has(folded))
      throw new UsageError(
        `Expected systems of different names but received ${name} twice: give each its own name, e.g. name=${folded}-2.`,
      );
    seen.add(folded);
  }
}
