/** What `exec` runs and where: from the command line, a --config file, or the run that --resume continues. */
import { basename } from 'node:path';
import { parseDuration } from '../../config/duration.js';
import { isMap, type RawMap } from '../../config/raw.js';
import { pricesFrom, type Prices } from '../../costs/read-prices.js';
import { quoted, UsageError } from '../../errors/usage-error.js';
import { INTERVAL_LIMITS } from '../../monitor/options.js';
import { parseSystem, parseSystems } from '../../systems/input/parse.js';
import { here } from '../../systems/kinds.js';
import type { System } from '../../systems/system.js';
import type { WorkloadSource } from '../../workloads/workload-type.js';
import { parseNumber } from '../options/options.js';
import type { RawComparing } from './comparing-task.js';
import type { RawDetecting } from './rounds-given.js';
import { type StoredRequest, storedSystems } from './stored-request.js';

export interface RawExecOptions extends Omit<RawComparing, 'path'>, RawDetecting {
  system?: string[];
  config?: string;
  name?: string;
  env?: string[];
  coolDown?: string;
  monitorInterval?: string;
}

interface Subjects {
  systems: System[];
  sources: WorkloadSource[];
  prices: Prices | null;
}

export async function subjectsOfExec(
  command: string[],
  raw: RawExecOptions,
  stored: StoredRequest | null,
): Promise<Subjects> {
  if (command.length > 0 && raw.config !== undefined)
    throw new UsageError('Expected a command or --config but received both: put the command into the file, as argv.');
  const allowMissing = raw.allowMissing ?? false;
  const surroundings = { ...here(), allowMissing };
  const configured = raw.config === undefined ? null : await configuredBy(raw.config, surroundings);
  if (configured && raw.name !== undefined)
    throw new UsageError('Expected --name together with a command but received --config: workloads there have names.');
  const sources = configured?.sources ?? sourcesOf(command, raw, stored);
  const named = parseSystems(raw.system ?? [], surroundings);
  const isGiven = raw.system !== undefined || (configured?.systems.length ?? 0) > 0;
  const systems = stored && !isGiven ? storedSystems(stored, allowMissing) : [...(configured?.systems ?? []), ...named];
  const chosen = systems.length > 0 ? systems : [parseSystem('native', surroundings)];
  const prices = configured ? configured.prices : pricesFrom(stored?.prices);
  return { systems: chosen, sources: sources.map((source) => overridden(source, raw)), prices };
}

async function configuredBy(config: string, surroundings: ReturnType<typeof here>) {
  const { readExecConfig } = await import('../../workloads/settings/exec-config.js');
  return readExecConfig(config, surroundings);
}

function sourcesOf(command: readonly string[], raw: RawExecOptions, stored: StoredRequest | null): WorkloadSource[] {
  if (command.length > 0) return [fromCommand(command, raw)];
  if (stored?.workloads) return stored.workloads.map(({ settings, folder }) => ({ settings, folder }));
  throw new UsageError(
    'Expected a command after -- or --config FILE but received neither, e.g. exec --system native -- python infer.py.',
  );
}

/** The command as a workload of a --config file. */
function fromCommand(command: readonly string[], { name, env = [] }: RawExecOptions): WorkloadSource {
  const pairs = env.map((text) => /^([^=]*)=(.*)$/s.exec(text)?.slice(1) ?? [text]);
  const set = pairs.filter(({ length }) => length === 2);
  const passed = pairs.filter(({ length }) => length === 1).flat();
  const settings: RawMap = {
    name: name ?? nameOf(command[0] as string),
    argv: [...command],
    ...(set.length > 0 && { env: Object.fromEntries(set) as RawMap }),
    ...(passed.length > 0 && { passEnv: passed }),
  };
  return { settings, folder: process.cwd() };
}

/** The program's name, without what an id cannot hold. */
function nameOf(program: string): string {
  const name = basename(program)
    .replace(/[^\w.+-]/g, '_')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 40);
  if (name !== '') return name;
  throw new UsageError(`Expected --name for ${quoted(program)}, whose file name cannot name results.`);
}

/** Options of the command line override what a file says. */
function overridden({ settings, folder }: WorkloadSource, raw: RawExecOptions): WorkloadSource {
  const number = (option: string, text: string | undefined) =>
    text === undefined ? undefined : String(parseNumber(option, text));
  const given = Object.entries({
    warmup: number('--warmup', raw.warmup),
    iterations: number('--iterations', raw.iterations),
    timeout: number('--timeout', raw.timeout),
  }).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]]));
  const coolDown = number('--cool-down', raw.coolDown);
  const before = settings.coolDown;
  const { monitorInterval } = raw;
  // Checked here, where the message can name the option.
  if (monitorInterval !== undefined) parseDuration(monitorInterval, { what: '--monitor-interval', ...INTERVAL_LIMITS });
  return {
    settings: {
      ...settings,
      ...(Object.fromEntries(given) as RawMap),
      ...(coolDown !== undefined && {
        coolDown: { ...(typeof before === 'object' ? before : {}), most: coolDown } as RawMap,
      }),
      ...(monitorInterval !== undefined && { monitor: { ...monitorOf(settings), interval: monitorInterval } }),
    },
    folder,
  };
}

/** `monitor: false` is short for `csv: false`. */
function monitorOf({ monitor = {} }: RawMap): RawMap {
  if (monitor === 'false') return { csv: 'false' };
  return isMap(monitor) ? monitor : {};
}
