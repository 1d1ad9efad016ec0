/** Reads systems from the file of --config. */
import { dirname, resolve } from 'node:path';
import { Place } from '../../config/setting-place.js';
import { isMap, type RawValue } from '../../config/raw.js';
import { checkKeys } from '../../config/read.js';
import { readYaml, readYamlText, type Source } from '../../config/yaml.js';
import { UsageError } from '../../errors/usage-error.js';
import { checkLabels, createSystem, here, type Surroundings } from '../kinds.js';
import { parseSystem } from './parse.js';
import type { System } from '../system.js';

interface Config {
  systems: System[];
  /** All values of the file, for code that reads its other keys. */
  top: Place;
  source: Source;
}

/** Relative paths in it are relative to its folder. */
export async function readConfig(file: string, surroundings = here()): Promise<Config> {
  return parseConfig(await readYamlText(file, '--config'), file, { ...surroundings, folder: dirname(resolve(file)) });
}

export function parseConfig(text: string, file: string, surroundings: Surroundings): Config {
  const source = readYaml(text, file);
  const top = source.at([], () => {
    if (!isMap(source.value)) throw new UsageError('Expected a map with the key systems.');
    // `workloads` is for exec, which can then compare the same systems by the same file.
    return checkKeys(new Place(source.value, 'the configuration'), ['systems', 'prices', 'workloads']);
  });
  return { systems: systemsIn(top.value('systems'), source, surroundings), top, source };
}

/** Systems of a file's key `systems`. */
export function systemsIn(list: RawValue | undefined, source: Source, surroundings: Surroundings): System[] {
  if (!Array.isArray(list) || list.length === 0)
    throw source.error(['systems'], 'Expected systems of the configuration to be a list of systems.');
  const systems = list.map((entry, index) => source.at(['systems', index], () => oneSystem(entry, surroundings)));
  source.at(['systems'], () => checkLabels(systems));
  return systems;
}

function oneSystem(entry: RawValue, surroundings: Surroundings): System {
  if (typeof entry === 'string') return parseSystem(entry, surroundings);
  if (!isMap(entry)) throw new UsageError('Expected a system to be its name or a map of its settings.');
  const kind = Object.hasOwn(entry, 'kind') ? entry.kind : undefined;
  if (typeof kind !== 'string') throw new UsageError('Expected a system to have kind, e.g. kind: hami-core.');
  return createSystem(kind, entry, surroundings);
}
