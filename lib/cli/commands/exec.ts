/** `gpu-virt-bench exec [--system SPEC]… -- COMMAND…` and `exec --config FILE` */
import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { type Execution, planExecution } from '../../api/exec.js';
import type { PlannedRounds } from '../../api/rounds.js';
import { parseDuration } from '../../config/duration.js';
import { isMap, type RawMap } from '../../config/raw.js';
import { pricesFrom, type Prices } from '../../costs/read-prices.js';
import { quoted, UsageError } from '../../errors/usage-error.js';
import { INTERVAL_LIMITS } from '../../monitor/options.js';
import { percentOf } from '../../report/tables/detection.js';
import { plain } from '../../results/text/plain.js';
import { counted } from '../../results/text/quantity.js';
import { refuseUnavailable } from '../../run/compare.js';
import { FEWEST_ROUNDS, PILOT_ROUNDS } from '../../run/effects/detect.js';
import { fileState } from '../../systems/proof/file-hash.js';
import { here } from '../../systems/kinds.js';
import { parseSystem, parseSystems } from '../../systems/input/parse.js';
import { namedFiles } from '../../systems/input/source.js';
import type { System } from '../../systems/system.js';
import { execTimeText } from '../../workloads/metrics/exec-time.js';
import { publicSource } from '../../workloads/settings/read-workloads.js';
import type { WorkloadSource } from '../../workloads/workload-type.js';
import {
  type Comparing,
  measureAndPublish,
  parseRounds,
  type RawComparing,
  sayUnavailable,
  toleranceOf,
} from './comparing.js';
import { parseAim, type RawDetecting } from './detecting.js';
import { exitCodes } from '../options/exit-codes.js';
import { prepareGating } from './gating.js';
import { parseNumber, parseRunOptions } from '../options/options.js';
import { writeText } from '../files/output.js';
import { LOGS, roundName } from '../files/result-directory.js';
import {
  checkUnchanged,
  continuedOptions,
  describeRequest,
  readRequest,
  type StoredRequest,
  storedSystems,
} from './stored-request.js';

export interface RawExecOptions extends Omit<RawComparing, 'path'>, RawDetecting {
  system?: string[];
  config?: string;
  name?: string;
  env?: string[];
  coolDown?: string;
  monitorInterval?: string;
}

/** `isGiven` tells whether the user named an option, as for `compare`. */
export async function exec(
  command: string[],
  given: RawExecOptions,
  isGiven: (option: string) => boolean,
): Promise<number> {
  const stored = given.resume === undefined ? null : await readRequest(given.resume, 'exec');
  const raw = { ...given, ...(stored && continuedOptions(stored, isGiven)), path: 'runtime' };
  // In exec, these three are for a run; in other commands they are for a metric.
  const { warmup: _warmup, iterations: _iterations, timeout: _timeout, ...measuring } = raw;
  const options = parseRunOptions(measuring);
  const { systems, sources, prices } = await subjects(command, raw, stored);
  const places = new Places();
  const execution = planExecution({
    systems,
    sources,
    tier: options.tier,
    seed: options.seed,
    rounds: parseAim(raw) ?? parseRounds(raw.rounds),
    tolerance: toleranceOf(raw),
    prices,
    logsOf: (workload) => places.of(workload),
  });
  const words = planText(execution);
  const kept = await describeRequest(execution, raw, {
    workloads: await Promise.all(sources.map(described)),
    ...(prices && { prices: prices.source }),
  });
  if (stored) checkUnchanged(stored, kept, given.resume as string);
  const gating = await prepareGating(raw, execution, options.outputs);
  refuseUnavailable({ systems, ...execution.tolerance });
  if (options.dryRun) {
    await writeText(`${words}\n`);
    sayUnavailable(systems);
    return exitCodes.ok;
  }
  return measureAndPublish({
    raw,
    options,
    comparison: execution,
    words,
    kept,
    gating,
    inputs: [raw.gate, raw.config].filter((file) => file !== undefined),
    isResumed: stored !== null,
    onDirectory: (path) => places.in(path),
    onRound: (...round) => places.at(...round),
  });
}

interface Subjects {
  systems: System[];
  sources: WorkloadSource[];
  prices: Prices | null;
}

async function subjects(command: string[], raw: RawExecOptions, stored: StoredRequest | null): Promise<Subjects> {
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

/** The settings, with the state of the files that they name: programs, scripts, inputs. */
async function described(source: WorkloadSource) {
  const { settings, folder } = publicSource(source);
  const files: Record<string, string> = {};
  const own = resolve(folder, folderOf(settings));
  const tenants = [settings.tenants ?? []].flat().filter(isMap);
  for (const each of [settings, ...tenants])
    for (const path of namedFiles({
      resolved: each,
      folder: each === settings ? own : resolve(own, folderOf(each)),
    }))
      files[path] = await fileState(path);
  return { settings, folder, files };
}

const folderOf = ({ folder }: RawMap): string => (typeof folder === 'string' ? folder : '.');

function planText({ workloads, systems, rounds, plan: { seed } }: Execution): string {
  const names = systems.map(({ name }) => plain(name)).join(', ');
  const runs = workloads.map(
    ({ name, warmup, iterations, timeoutSeconds, tenants = [] }) =>
      `${plain(name)} (${tenants.length > 0 ? `${tenants.map((tenant) => tenant.name).join(', ')}: ` : ''}${counted(warmup, 'warm-up')} and ${counted(iterations, 'run')}, each of at most ${timeoutSeconds} s)`,
  );
  const { text, ...count } = roundsText(rounds);
  return [
    `Plan: ${counted(systems.length, 'system')} (${names}) × ${text} × ${runs.join(', ')}, seed ${seed}`,
    execTimeText(workloads, systems.length, count),
  ].join('\n');
}

function roundsText(rounds: PlannedRounds): { text: string; fewest: number; most: number } {
  if (typeof rounds === 'number') return { text: counted(rounds, 'round'), fewest: rounds, most: rounds };
  const { effect, mostRounds } = rounds;
  return {
    text: `${PILOT_ROUNDS} rounds of a pilot, then ${FEWEST_ROUNDS} to ${mostRounds} rounds that detect ${percentOf(effect)}`,
    fewest: PILOT_ROUNDS + FEWEST_ROUNDS,
    most: PILOT_ROUNDS + mostRounds,
  };
}

/** Where the logs of runs go: a folder for every round of a system, and a new one if a round is measured again. */
class Places {
  #directory: string | null = null;
  #round = '';

  in(directory: string): void {
    this.#directory = directory;
  }

  at(...[round, index, stage]: Parameters<NonNullable<Comparing['onRound']>>): void {
    const name = roundName(round, index, stage);
    this.#round = name;
    for (let time = 2; this.#directory !== null && existsSync(this.#path()); time++) this.#round = `${name}-${time}`;
  }

  of(workload: string): string {
    return join(this.#path(), workload);
  }

  #path(): string {
    return join(this.#directory ?? '', LOGS, this.#round);
  }
}
