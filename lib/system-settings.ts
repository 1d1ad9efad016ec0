/** Systems for `compareSystems`: the keys of the YAML file of `compare --config`. */
import { isMap, rawOf } from './config/raw.js';
import { createSystem, type Surroundings } from './systems/kinds.js';
import { parseSystem } from './systems/parse.js';
import type { System } from './systems/system.js';

/** `10GiB`, `4096MiB`, or `50%` of the card where a percentage is allowed. */
type Size = string;

interface Named {
  /** Its name in documents; default: the kind. */
  name?: string;
}

/** The bare driver. */
export interface NativeSettings extends Named {
  kind: 'native';
}

export interface HamiCoreSettings extends Named {
  kind: 'hami-core';
  /** Default: /usr/local/vgpu/libvgpu.so. */
  library?: string;
  /** Memory limit of all processes of a tenant together. Default: the card's memory. */
  memory?: Size;
  /** Percentage of GPU time, 1 to 100. Default 100. */
  sm?: number;
  /** Default `force`. */
  policy?: 'force' | 'disable' | 'default';
}

export interface VgpuManagerSettings extends Named {
  kind: 'vgpu-manager';
  library: string;
  memory?: Size;
  /** Percentage of GPU time, 1 to 100. */
  cores?: number;
  /** Limit while others are idle, above `cores`. */
  'soft-cores'?: number;
  /** Default `delta`. */
  controller?: 'delta' | 'aimd' | 'auto';
}

export interface MpsSettings extends Named {
  kind: 'mps';
  /** Memory limit per process. */
  memory?: Size;
  /** Percentage of the multiprocessors that a client may use at once, 1 to 100. Not together with `partition`. */
  sm?: number;
  /** Chunks of multiprocessors that a tenant owns; needs driver R590. */
  partition?: number;
}

/** Its single settings are also keys: see docs/systems.md. */
export interface FcspSettings extends Named {
  kind: 'fcsp';
  library: string;
  memory?: Size;
  sm?: number;
  env?: Readonly<Record<string, string>>;
  [setting: string]: Setting | undefined;
}

/** A list of arguments; never run by a shell. */
type Command = readonly string[];

/** How to prove that the layer is active. If one fails, there are no numbers. */
export type ProofStep =
  | { symbolOwner: { symbol: string; matches: string } }
  | { symbolExported: string }
  | { env: { name: string; value: string } }
  | { smCount: readonly [least: number, most: number] }
  | { totalMemory: readonly [least: Size, most: Size] }
  /** An allocation of this size must be refused. */
  | { allocationCanary: Size }
  | { command: { argv: Command; exit?: number; matches?: string } };

/**
 * Any other layer. Values may contain `{memoryBytes}`, `{memoryMiB}`, `{smPercent}`, `{gpuUuid}`, `{gpuIndex}`,
 * `{tenant}` and `{runDir}`. docs/systems.md explains each key.
 */
export interface CustomSettings {
  kind: 'custom';
  name: string;
  env?: Readonly<Record<string, string>>;
  unsetEnv?: readonly string[];
  prefix?: Command;
  stateFiles?: readonly string[];
  setup?: Command | readonly Command[];
  perTenantSetup?: Command | readonly Command[];
  betweenLimits?: Command | readonly Command[];
  teardown?: Command | readonly Command[];
  limits?: { memory?: Size; sm?: number };
  /** Proofs of the system; without any it is called `NAME (unverified)`. */
  verify?: readonly ProofStep[];
  /** Whether the libraries it names must be seen to intercept. Default true. */
  interposes?: boolean;
  capabilities?: {
    memLimit?: 'none' | 'perProcess' | 'perTenantPool' | 'hardware';
    computeLimit?: 'none' | 'softDutyCycle' | 'smCap' | 'hardware';
    needsRoot?: boolean;
    needsIdleGpu?: boolean;
    changesGlobalGpuState?: boolean;
    limitGranularity?: { memory?: Size; sm?: number };
  };
}

/** The keys of a system in the file of `compare --config`. */
export type SystemSettings =
  NativeSettings | HamiCoreSettings | VgpuManagerSettings | MpsSettings | FcspSettings | CustomSettings;

type Setting = string | number | boolean | readonly Setting[] | { readonly [key: string]: Setting | undefined };

/** Throws TypeError for values that YAML could not express, and the errors of --config for wrong settings. */
export function systemFrom(given: string | SystemSettings, surroundings: Surroundings): System {
  if (typeof given === 'string') return parseSystem(given, surroundings);
  const raw = rawOf(given, 'a system');
  if (raw === undefined || !isMap(raw) || typeof raw.kind !== 'string')
    throw new TypeError(`Expected a system to be its name or an object with kind but received ${typeof given}.`);
  return createSystem(raw.kind, raw, surroundings);
}

