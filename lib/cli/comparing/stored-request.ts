/** request.json in the directory of a comparison: what --resume continues and checks for changes. */
import { readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import * as v from 'valibot';
import { boundedJson } from '../../results/bounded-json.js';
import { NOT_RECORDED } from '../../results/document.js';
import { toolVersion } from '../../environment/tool.js';
import { quoted, UsageError } from '../../errors/usage-error.js';
import type { Comparison } from '../../api/comparison.js';
import { callerEnvironment } from '../../systems/process/environment.js';
import { fileState } from '../../systems/proof/file-hash.js';
import { createSystem, here } from '../../systems/kinds.js';
import { namedFiles, publicSettings } from '../../systems/input/source.js';
import type { System } from '../../systems/system.js';
import { isMap, type RawMap, type RawValue } from '../../config/raw.js';
import { publicSource } from '../../workloads/settings/read-workloads.js';
import type { WorkloadSource } from '../../workloads/workload-type.js';
import type { RawRunOptions } from '../options/options.js';

export const REQUEST = 'request.json';

/** Options of `compare` that say what is measured and how, as commander names them. */
const measuringOptions = [
  'for',
  'tier',
  'rounds',
  'detect',
  'maxRounds',
  'seed',
  'path',
  'iterations',
  'warmup',
  'resolution',
  'samples',
  'timeout',
  'device',
  'workload',
  'model',
  'requireGpu',
  'simulate',
  'strict',
] as const;

/** These options do not affect rounds that were measured, so --resume accepts them. */
const toleranceOptions = ['allowMissing', 'keepGoing'] as const;

/** The other options say where results go, and are given again. */
const continued = [...measuringOptions, ...toleranceOptions];

const isContinued = (name: string): boolean => continued.some((option) => option === name);

const requestSchema = v.strictObject({
  kind: v.picklist(['compare request', 'exec request']),
  version: v.literal(2),
  tool: v.string(),
  metrics: v.array(v.string()),
  /** Options by name, in the form of the command line. */
  options: v.record(v.string(), v.union([v.string(), v.literal(true)])),
  systems: v.array(
    v.strictObject({
      kind: v.string(),
      settings: v.custom<RawMap>((found) => typeof found === 'object' && found !== null && !Array.isArray(found)),
      folder: v.string(),
      /** Hashes of the files' contents, by path. */
      files: v.record(v.string(), v.string()),
    }),
  ),
  /** The workloads of `exec`, in the form of a file for --config. */
  workloads: v.optional(
    v.array(
      v.strictObject({
        settings: v.custom<RawMap>((found) => typeof found === 'object' && found !== null && !Array.isArray(found)),
        folder: v.string(),
        /** Hashes of the files' contents, by path. */
        files: v.record(v.string(), v.string()),
      }),
    ),
  ),
  /** The prices in the form of a file for --config. They do not affect rounds, so --resume accepts other prices. */
  prices: v.optional(v.custom<RawMap>((found) => typeof found === 'object' && found !== null && !Array.isArray(found))),
  /** Environment variables that all workers inherit and that affect the numbers. */
  environment: v.record(v.string(), v.string()),
});
export type StoredRequest = v.InferOutput<typeof requestSchema>;

interface Described extends Pick<Comparison, 'systems' | 'rounds'> {
  plan: Pick<Comparison['plan'], 'metrics' | 'tier' | 'seed'>;
}

/** Uses only those of `options` (named as by commander) that say what is measured. */
export async function describeRequest(
  { plan, systems, rounds }: Described,
  options: object,
  { sources, prices }: { sources?: readonly WorkloadSource[]; prices?: RawMap } = {},
): Promise<StoredRequest> {
  const planned = { tier: plan.tier, seed: `${plan.seed}`, ...(typeof rounds === 'number' && { rounds: `${rounds}` }) };
  const given = Object.entries({ ...options, ...planned }).filter(([name]) => isContinued(name));
  return {
    kind: sources ? 'exec request' : 'compare request',
    version: 2,
    tool: toolVersion(),
    metrics: plan.metrics.map(({ id }) => id).sort(),
    options: Object.fromEntries(given) as StoredRequest['options'],
    systems: await Promise.all(systems.map(describeSystem)),
    ...(sources && { workloads: await Promise.all(sources.map(describeWorkload)) }),
    ...(prices && { prices }),
    environment: inherited(callerEnvironment()),
  };
}

async function describeSystem({ name, source }: System): Promise<StoredRequest['systems'][number]> {
  if (!source) throw new Error(`unreachable: ${name} was not made from settings`);
  const files: Record<string, string> = {};
  for (const path of namedFiles(source)) files[path] = await fileState(path);
  return { kind: source.kind, settings: publicSettings(source), folder: source.folder, files };
}

async function describeWorkload(source: WorkloadSource): Promise<NonNullable<StoredRequest['workloads']>[number]> {
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

/** The region is only the name of a simulated card's shared memory and does not affect the card. */
function inherited({ GVB_SIM, LD_LIBRARY_PATH }: NodeJS.ProcessEnv): Record<string, string> {
  const sim = GVB_SIM?.split(',').filter((pair) => !pair.startsWith('region='));
  return {
    ...(sim && sim.length > 0 && { GVB_SIM: sim.join(',') }),
    ...(LD_LIBRARY_PATH && { LD_LIBRARY_PATH }),
  };
}

const refused = (directory: string, why: string): UsageError =>
  new UsageError(`Expected --resume to be the directory of a comparison but received ${quoted(directory)}: ${why}.`);

export async function readRequest(directory: string, command: 'compare' | 'exec' = 'compare'): Promise<StoredRequest> {
  const path = join(directory, REQUEST);
  let found: unknown;
  try {
    found = boundedJson(await readFile(path, 'utf8'));
  } catch {
    const isThere = await stat(directory).catch(() => null);
    if (!isThere) throw refused(directory, 'there is no such directory; start again with --output');
    throw refused(
      directory,
      `it has no ${REQUEST} that can be read, which ${command} writes with its first round; start again with --output`,
    );
  }
  if (!v.is(requestSchema, found))
    throw refused(
      directory,
      `its ${REQUEST} was written by another version; resume with that, or start again with --output`,
    );
  if (found.tool !== toolVersion())
    throw refused(
      directory,
      `version ${found.tool} of gpu-virt-bench wrote it and this is ${toolVersion()}; resume with that one, or start again with --output`,
    );
  if (found.kind !== `${command} request`) {
    const [other] = found.kind.split(' ');
    throw refused(directory, `${other} made it; continue it with ${other} --resume`);
  }
  refuseSecrets(found, directory);
  return found;
}

/** A changed value of a setting that was not recorded would go unnoticed. */
function refuseSecrets(request: StoredRequest, directory: string): void {
  const [ofSystem] = request.systems.flatMap(({ settings }) => secretsIn(settings));
  const [name] = secretSettings(request);
  if (name === undefined) return;
  throw refused(
    directory,
    `${name} of its ${ofSystem === undefined ? 'programs' : 'systems'} is secret and was not recorded, so a change would go unnoticed; start again with --output`,
  );
}

/** Settings whose values are secret and not recorded: a comparison with one cannot be resumed. */
export const secretSettings = ({ systems, workloads = [] }: StoredRequest): string[] =>
  [...systems, ...workloads].flatMap(({ settings }) => secretsIn(settings));

const secretsIn = (map: RawMap): string[] =>
  Object.entries(map).flatMap(([name, value]: [string, RawValue]) => {
    if (isMap(value)) return secretsIn(value).map((inner) => `${name}.${inner}`);
    return textsOf(value).some((text) => text.includes(NOT_RECORDED)) ? [name] : [];
  });

const textsOf = (value: RawValue): string[] =>
  typeof value === 'string' ? [value] : Object.values<RawValue>(value).flatMap(textsOf);

/** The stored options that the user did not give again. */
export const continuedOptions = ({ options }: StoredRequest, isGiven: (option: string) => boolean) =>
  Object.fromEntries(
    continued.filter((name) => !isGiven(name)).map((name) => [name, options[name]]),
  ) as Partial<RawRunOptions>;

/** The systems of an earlier comparison. */
export const storedSystems = ({ systems }: StoredRequest, allowMissing: boolean): System[] =>
  systems.map(({ kind, settings, folder }) => createSystem(kind, settings, { ...here(), folder, allowMissing }));

const settingsText = ({ systems }: StoredRequest): string =>
  JSON.stringify(systems.map(({ kind, settings }) => ({ kind, settings })));
const workloadsText = ({ workloads = [] }: StoredRequest): string =>
  JSON.stringify(workloads.map(({ settings, folder }) => ({ settings, folder })));
const environmentText = ({ environment }: StoredRequest): string =>
  Object.entries(environment)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ') || 'nothing set';

/** Throws UsageError at the first difference. */
export function checkUnchanged(stored: StoredRequest, now: StoredRequest, directory: string): void {
  const check = (what: string, before: string, after: string) => {
    if (before !== after)
      throw refused(
        directory,
        `its ${what} ${abbreviated(before)}, and now ${abbreviated(after)}; restore it, or start again with --output`,
      );
  };
  check('metrics were', stored.metrics.join(', '), now.metrics.join(', '));
  if (settingsText(stored) !== settingsText(now))
    throw refused(
      directory,
      'its systems had other settings; give no system with --resume, or start again with --output',
    );
  if (workloadsText(stored) !== workloadsText(now))
    throw refused(directory, 'its programs were others; give no program with --resume, or start again with --output');
  for (const name of measuringOptions)
    check(`--${flagOf(name)} was`, optionText(stored.options[name]), optionText(now.options[name]));
  for (const [index, { files }] of stored.systems.entries()) {
    const found = now.systems[index]?.files ?? {};
    for (const path of new Set([...Object.keys(files), ...Object.keys(found)]))
      check(`file ${path} of system ${index + 1} was`, files[path] ?? NOT_THERE, found[path] ?? NOT_THERE);
  }
  for (const [index, { files }] of (stored.workloads ?? []).entries()) {
    const found = now.workloads?.[index]?.files ?? {};
    for (const path of new Set([...Object.keys(files), ...Object.keys(found)]))
      check(`file ${path} was`, files[path] ?? NOT_THERE, found[path] ?? NOT_THERE);
  }
  check('environment was', environmentText(stored), environmentText(now));
}

const NOT_THERE = 'not there';

/** The first characters of a hash are enough to distinguish it. */
const abbreviated = (text: string): string => text.replace(/^(SHA-256 \w{12})\w+$/, '$1…');

const optionText = (value: string | true | undefined): string => (value === undefined ? 'not given' : String(value));
const flagOf = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
