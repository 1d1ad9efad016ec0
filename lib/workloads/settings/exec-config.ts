/** The file of `exec --config`: workloads, and the systems and prices beside them. */
import { dirname, resolve } from 'node:path';
import { pricesIn, type Prices } from '../../costs/read-prices.js';
import { Place } from '../../config/setting-place.js';
import { isMap } from '../../config/raw.js';
import { checkKeys } from '../../config/read.js';
import { readYaml, readYamlText, type Source } from '../../config/yaml.js';
import { UsageError } from '../../errors/usage-error.js';
import { systemsIn } from '../../systems/input/config.js';
import type { Surroundings } from '../../systems/kinds.js';
import type { System } from '../../systems/system.js';
import { checkNames, workloadsOf } from './read-workloads.js';
import type { Workload, WorkloadSource } from '../workload-type.js';

interface ExecConfig {
  /** Systems of the file; empty where it has no such key. */
  systems: System[];
  workloads: Workload[];
  sources: WorkloadSource[];
  /** Prices of the file; null where it has no such key. */
  prices: Prices | null;
}

/** Reads the file of --config. Relative paths in it are relative to its folder. */
export async function readExecConfig(file: string, surroundings: Surroundings): Promise<ExecConfig> {
  const text = await readYamlText(file, '--config');
  return parseExecConfig(text, file, { ...surroundings, folder: dirname(resolve(file)) });
}

export function parseExecConfig(text: string, file: string, surroundings: Surroundings): ExecConfig {
  const source = readYaml(text, file);
  const top = source.at([], () => {
    if (!isMap(source.value)) throw new UsageError('Expected a map with the keys workloads and systems.');
    return checkKeys(new Place(source.value, 'the configuration'), ['workloads', 'systems', 'prices']);
  });
  const list = top.value('workloads');
  if (!Array.isArray(list) || list.length === 0)
    throw source.error(['workloads'], 'Expected workloads of the configuration to be a list of workloads.');
  const sources = list.map((entry, index): WorkloadSource => {
    if (!isMap(entry))
      throw source.error(['workloads', index], 'Expected a workload to be a map with the keys name and argv.');
    return { settings: entry, folder: surroundings.folder };
  });
  const workloads = sources.flatMap((each, index) => source.at(['workloads', index], () => workloadsOf(each)));
  source.at(['workloads'], () => checkNames(workloads));
  return {
    systems: top.has('systems') ? systemsOf(top, source, surroundings) : [],
    workloads,
    sources,
    prices: source.at([], () => pricesIn(top)),
  };
}

const systemsOf = (top: Place, source: Source, surroundings: Surroundings): System[] =>
  systemsIn(top.value('systems'), source, surroundings);
