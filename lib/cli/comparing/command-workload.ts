/** The command line of `exec` as a workload, and its options that override what a workload says. */
import { basename } from 'node:path';
import { parseDuration } from '../../config/duration.js';
import { isMap, type RawMap } from '../../config/raw.js';
import { quoted, UsageError } from '../../errors/usage-error.js';
import { INTERVAL_LIMITS } from '../../monitor/options.js';
import type { WorkloadSource } from '../../workloads/workload-type.js';
import { variableOf } from '../options/env-option.js';
import { parseNumber, type RawRunOptions } from '../options/options.js';

/** Options of `exec` about what it runs. */
export interface CommandOptions extends Pick<RawRunOptions, 'warmup' | 'iterations' | 'timeout'> {
  name?: string;
  env?: string[];
  coolDown?: string;
  monitorInterval?: string;
}

/** The command as a workload of a --config file. */
export function fromCommand(command: readonly string[], { name, env = [] }: CommandOptions): WorkloadSource {
  const variables = env.map(variableOf);
  const set = variables.filter(({ isOwn }) => !isOwn).map(({ name: key, value }) => [key, value]);
  // Not with their values, which are not recorded.
  const passed = variables.filter(({ isOwn }) => isOwn).map(({ name: key }) => key);
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
export function overridden({ settings, folder }: WorkloadSource, raw: CommandOptions): WorkloadSource {
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
