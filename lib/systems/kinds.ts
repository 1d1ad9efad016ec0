/** All kinds of systems with their keys, and how each is created. */
import { existsSync } from 'node:fs';
import { closest } from '../errors/closest.js';
import { quoted, UsageError } from '../errors/usage-error.js';
import { CustomSystem } from './custom.js';
import { customKeys, customProfile, stateFiles } from './custom-profile.js';
import { callerEnvironment } from './environment.js';
import { FcspSystem } from './fcsp.js';
import { fcspVariables, settingKeys } from './fcsp-settings.js';
import { HAMI_LIBRARY, HamiCoreSystem, policies } from './hami-core.js';
import { checkLibrary, missingLibrary } from './library.js';
import { MpsSystem } from './mps.js';
import { NativeSystem } from './native.js';
import { absolutePreloads, fixedPreloads } from './source.js';
import { specOf } from './spec.js';
import type { System } from './system.js';
import { nameOfLabel } from './system-name.js';
import { controllers, VgpuManagerSystem } from './vgpu-manager.js';
import { type RawMap, type RawValue, Values } from '../config/values.js';
import { NOT_RECORDED } from '../results/document.js';

export interface Surroundings {
  /** The caller's environment before the CLI removed LD_PRELOAD from it. */
  caller: NodeJS.ProcessEnv;
  /** Base of relative library paths. */
  folder: string;
  /** A missing library makes its system unavailable instead of causing an error. Default false. */
  allowMissing?: boolean;
}

export const here = (): Surroundings => ({ caller: callerEnvironment(), folder: process.cwd() });

interface Kind {
  keys: readonly string[];
  /** Keys with a map; the command line writes their entries as `env.NAME=value`. */
  maps: readonly string[];
  /** Keys with a list; the command line repeats them. */
  lists: readonly string[];
  create: (values: Values, name: string, surroundings: Surroundings) => System;
}

const kinds: Record<string, Kind> = {
  native: {
    keys: ['name'],
    maps: [],
    lists: [],
    create: (_values, name, { caller }) => new NativeSystem({ name, caller }),
  },
  'hami-core': {
    keys: ['name', 'library', 'memory', 'sm', 'policy'],
    maps: [],
    lists: [],
    create: createHami,
  },
  'vgpu-manager': {
    keys: ['name', 'library', 'memory', 'cores', 'sm', 'soft-cores', 'controller'],
    maps: [],
    lists: [],
    create: createVgpuManager,
  },
  fcsp: {
    keys: [...['name', 'library', 'memory', 'sm', 'mode', 'memoryMode', 'preset', 'env', 'stateFiles'], ...settingKeys],
    maps: ['env'],
    lists: ['stateFiles'],
    create: createFcsp,
  },
  mps: {
    keys: ['name', 'memory', 'sm', 'partition'],
    maps: [],
    lists: [],
    create: createMps,
  },
  custom: {
    keys: customKeys,
    maps: ['env', 'limits', 'capabilities'],
    lists: ['unsetEnv', 'prefix', 'stateFiles'],
    create: createCustom,
  },
};

export const kindNames = Object.keys(kinds);

export function findKind(name: string): Kind {
  const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
  if (kind) return kind;
  const near = closest(name, kindNames);
  const hint = near ? `did you mean ${near}?` : `there are ${kindNames.join(', ')}.`;
  throw new UsageError(`Expected a kind of system but received ${quoted(name)}: ${hint}`);
}

/** Chunks of SMs per partition; far more than any GPU has. */
const MOST_CHUNKS = 256;

/** Safe in names of folders and files, and unambiguous in text. */
const label = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,39}$/;

export function createSystem(kindName: string, raw: RawMap, surroundings: Surroundings): System {
  const kind = findKind(kindName);
  const { kind: _, ...settings } = raw;
  refuseUnrecorded(kindName, settings);
  const values = new Values(settings, kindName, kind.keys);
  const name = kindName === 'custom' ? values.required('name') : (values.text('name') ?? kindName);
  if (!label.test(name))
    throw values.expected('name', 'at most 40 letters, digits and . _ + -, the first a letter or digit');
  return Object.assign(kind.create(values, name, surroundings), {
    spec: specOf(kindName, settings, surroundings.folder),
    source: { kind: kindName, settings, folder: surroundings.folder },
  });
}

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

function createHami(values: Values, name: string, surroundings: Surroundings): System {
  const { caller } = surroundings;
  const named = values.text('library') ?? (existsSync(HAMI_LIBRARY) ? HAMI_LIBRARY : undefined);
  return new HamiCoreSystem({
    name,
    caller,
    ...library(values, named, surroundings),
    memory: values.size('memory', false),
    sm: values.integer('sm', 1, 100),
    policy: values.choice('policy', policies) ?? 'force',
  });
}

function createVgpuManager(values: Values, name: string, surroundings: Surroundings): System {
  // The layer's own key, and the one that every system accepts.
  const cores = oneOf(values, 'cores', 'sm');
  const sm = values.integer(cores, 1, 100);
  const softCores = values.integer('soft-cores', 1, 100);
  if (softCores !== undefined && (sm === undefined || softCores <= sm))
    throw values.expected('soft-cores', `above ${cores}, which is ${sm ?? 'not set'},`);
  return new VgpuManagerSystem({
    name,
    caller: surroundings.caller,
    ...library(values, values.text('library'), surroundings),
    memory: values.size('memory', true),
    sm,
    softCores,
    controller: values.choice('controller', controllers) ?? 'delta',
  });
}

/** Returns the given value of two keys for one setting. */
function oneOf(values: Values, first: string, second: string): string {
  if (values.has(first) && values.has(second))
    throw values.error(second, `Expected ${first} or ${second} of vgpu-manager but received both.`);
  return values.has(second) ? second : first;
}

function createMps(values: Values, name: string, { caller }: Surroundings): System {
  const sm = values.integer('sm', 1, 100);
  const partition = values.integer('partition', 1, MOST_CHUNKS);
  // With static partitions the driver ignores thread percentages.
  if (partition !== undefined && sm !== undefined)
    throw values.error('partition', 'Expected sm or partition of mps but received both.');
  return new MpsSystem({ name, caller, memory: values.size('memory', true), sm, partition });
}

function createFcsp(values: Values, name: string, surroundings: Surroundings): System {
  const { caller } = surroundings;
  const named = values.text('library');
  return new FcspSystem({
    name,
    caller,
    ...library(values, named, surroundings),
    memory: values.size('memory', true),
    sm: values.integer('sm', 1, 100),
    variables: fcspVariables(values),
    stateFiles: stateFiles(values, 'stateFiles', []),
  });
}

function createCustom(values: Values, name: string, { caller, folder, allowMissing }: Surroundings): System {
  const described = customProfile(values);
  const preload = described.env.LD_PRELOAD;
  const fixed = fixedPreloads(preload ?? '');
  const missing = allowMissing ? fixed.flatMap((path) => notAvailable(path, folder) ?? []) : [];
  if (missing.length === 0)
    for (const path of fixed) values.within('env', () => checkLibrary(path, `LD_PRELOAD of ${name}`, folder));
  const env = { ...described.env, ...(preload !== undefined && { LD_PRELOAD: absolutePreloads(preload, folder) }) };
  return new CustomSystem({
    name,
    caller,
    profile: { ...described, env },
    ...(missing[0] !== undefined && { missing: missing[0] }),
  });
}

interface Library {
  library: string | null;
  missing?: string;
}

function library(values: Values, path: string | undefined, { folder, allowMissing }: Surroundings): Library {
  if (path === undefined) return { library: null };
  const missing = allowMissing ? notAvailable(path, folder) : null;
  if (missing !== null) return { library: null, missing };
  return { library: values.within('library', () => checkLibrary(path, values.named('library'), folder)) };
}

function notAvailable(path: string, folder: string): string | null {
  const fault = missingLibrary(path, folder);
  return fault === null ? null : `library not available: ${path}: ${fault}`;
}
