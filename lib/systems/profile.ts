/** The base of native, HAMi-core, FCSP and custom systems: a clean environment and private state. */
import { join } from 'node:path';
import { BenchError } from '../errors/bench-error.js';
import { UsageError } from '../errors/usage-error.js';
import type { Description } from '../workers/description.js';
import type { Launcher } from '../workers/launcher.js';
import { local } from '../workers/local.js';
import { instanceVariables } from '../environment/named-gpu.js';
import { baseEnvironment, withoutMps } from './process/base-environment.js';
import { resolveSize, type Size } from '../config/size.js';
import { publicValue } from './input/spec.js';
import { noMpsClient, type SeenDevice } from './proof/attestation.js';
import type { Finding } from './proof/proof-finding.js';
import { privateDirectory, removeDirectory, StateFiles } from './process/state-files.js';
import type { Attestation, Canary, Capabilities, Evidence, Limits, RunState, System, Tenant } from './system.js';
import { FIRST_LOOK, overLimit, SOLE_TENANT } from './system.js';

export interface ProfileOptions {
  name: string;
  /** The caller's environment, filtered by the allow-list. */
  caller: NodeJS.ProcessEnv;
  /** Folders of the layer's libraries: they are removed from LD_LIBRARY_PATH. */
  layerFolders?: readonly string[];
}

export interface Prepared {
  run: RunState;
  /** This system's own part of the run directory. */
  directory: string;
  files: StateFiles;
}

export abstract class Profile implements System {
  abstract readonly kind: string;
  abstract readonly capabilities: Capabilities;
  readonly unavailable: string | null = null;
  readonly limitsCoexist: boolean = false;
  readonly staggerStarts: boolean = false;
  readonly wantsProbe: boolean = true;
  readonly name: string;
  readonly #options: ProfileOptions;
  #prepared: Prepared | null = null;

  /** `shownAs` is its name in documents. */
  constructor(options: ProfileOptions, shownAs = options.name) {
    this.#options = options;
    this.name = shownAs;
  }

  async prepare(run: RunState): Promise<void> {
    const directory = join(run.directory, this.#options.name);
    this.checkRun(run);
    await privateDirectory(directory);
    this.#prepared = { run, directory, files: new StateFiles(directory) };
    await this.begin(this.#prepared);
  }

  environment(tenant: Tenant = SOLE_TENANT): NodeJS.ProcessEnv {
    return { ...this.inherited(), ...this.variables(tenant) };
  }

  /** The variables that `environment` adds for the layer. */
  get settings(): Record<string, string> {
    return this.#prepared ? publicVariables(this.variables(SOLE_TENANT)) : {};
  }

  readonly launcher: Launcher = local;

  argvPrefix(_tenant: Tenant = SOLE_TENANT): readonly string[] {
    return [];
  }

  limits(tenant: Tenant = SOLE_TENANT): Limits {
    return limitsOf(this.wantedLimits(), tenant, this.prepared.run, this.name);
  }

  /** An allocation over the limit must be refused; one larger than the card would be refused by the driver itself. */
  canaries(tenant: Tenant = SOLE_TENANT): Canary[] {
    return overLimit(this.limits(tenant).memoryBytes, this.prepared.run.gpu);
  }

  prepareTenant(_tenant: Tenant): Promise<void> {
    return Promise.resolve();
  }

  abstract attest(description: Description, evidence?: Evidence): Promise<Attestation>;

  betweenLimits(): Promise<void> {
    return Promise.resolve();
  }

  reap(_tenant: Tenant): Promise<void> {
    return Promise.resolve();
  }

  async teardown(): Promise<void> {
    const prepared = this.#prepared;
    if (!prepared) return;
    const left = [...(await this.end(prepared)), ...(await prepared.files.remove())];
    left.push(...(await removeDirectory(prepared.directory)));
    this.#prepared = null;
    if (left.length > 0) throw new BenchError('SYSTEM', `${this.name} could not be cleaned up: ${left.join('; ')}.`);
  }

  protected get prepared(): Prepared {
    if (!this.#prepared) throw new Error(`${this.name} was not prepared.`);
    return this.#prepared;
  }

  protected inherited(): Record<string, string> {
    const { caller, layerFolders } = this.#options;
    const { directory, run } = this.prepared;
    const { gpu, besideInstances = false } = run;
    return {
      ...baseEnvironment(caller, layerFolders),
      ...withoutMps(directory),
      ...(besideInstances ? { CUDA_VISIBLE_DEVICES: gpu.uuid } : instanceVariables(gpu.uuid)),
    };
  }

  protected wantedLimits(): WantedLimits {
    return { memory: undefined, sm: undefined };
  }

  /** Called before anything is created: whether the run is possible at all. */
  protected checkRun(run: RunState): void {
    limitsOf(this.wantedLimits(), SOLE_TENANT, run, this.name);
  }

  protected begin(_prepared: Prepared): Promise<void> {
    return Promise.resolve();
  }

  /** Undoes `begin`; returns what could not be undone. */
  protected end(_prepared: Prepared): Promise<string[]> {
    return Promise.resolve([]);
  }

  /** Whether the process uses MPS, which it may only where the system around this one proves it. */
  protected noMpsClient(device: SeenDevice): Finding[] {
    return this.prepared.run.isUnderMps === true ? [] : [noMpsClient(device)];
  }

  /** The layer's own variables. */
  protected abstract variables(tenant: Tenant): Record<string, string>;

  protected look(evidence: Evidence | undefined): Evidence {
    return evidence ?? FIRST_LOOK;
  }
}

/** The configured limits, before the card is known. */
export interface WantedLimits {
  memory: Size | undefined;
  sm: number | undefined;
}

function limitsOf(wanted: WantedLimits, tenant: Tenant, { gpu }: RunState, name: string): Limits {
  const what = `memory of ${name}`;
  const { limits } = tenant;
  const own = wanted.memory ? resolveSize(wanted.memory, gpu.memoryBytes, what) : null;
  const memoryBytes = limits?.memoryBytes === undefined ? own : limits.memoryBytes;
  const smPercent = limits?.smPercent === undefined ? (wanted.sm ?? null) : limits.smPercent;
  if (memoryBytes !== null && (!Number.isSafeInteger(memoryBytes) || memoryBytes < 1))
    throw new UsageError(`Expected ${what} to be a number of bytes above 0 but received ${memoryBytes}.`);
  if (memoryBytes !== null) resolveSize({ bytes: memoryBytes }, gpu.memoryBytes, what);
  if (smPercent !== null && !(Number.isInteger(smPercent) && smPercent >= 1 && smPercent <= 100))
    throw new UsageError(`Expected sm of ${name} to be an integer from 1 to 100 but received ${smPercent}.`);
  return { memoryBytes, smPercent };
}

const publicVariables = (variables: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, publicValue(name, value)]));
