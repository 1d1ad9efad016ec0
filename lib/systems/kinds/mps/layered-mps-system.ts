/**
 * MPS whose clients are under a preloaded layer too. The layer is set up as by itself, in the daemon's directory; each of the
 * two proves its part in every process. MPS alone limits compute, and memory is limited by both.
 */
import { join } from 'node:path';
import { inWords } from '../../../config/size.js';
import type { Description } from '../../../workers/description.js';
import type { Launcher } from '../../../workers/launcher.js';
import { privateDirectory } from '../../process/state-files.js';
import { joined } from '../../proof/joined.js';
import { CONTEXT_BYTES } from '../../proof/mps-limits.js';
import type { Attestation, Canary, Capabilities, Evidence, Limits, RunState, System, Tenant } from '../../system.js';
import { FIRST_LOOK, SOLE_TENANT } from '../../system.js';
import type { MpsSystem } from './mps-system.js';

export class LayeredMpsSystem implements System {
  readonly kind = 'mps';
  readonly name: string;
  readonly usesMps = true;
  readonly showsMeasuredFirst = true;
  readonly wantsProbe = true;
  readonly limitsCoexist: boolean;
  readonly staggerStarts: boolean;
  readonly unavailable: string | null;
  readonly launcher: Launcher;
  readonly whyNoPrograms: string | undefined;
  readonly #mps: MpsSystem;
  readonly #layer: System;
  /** Whether the limit of the layer is the one that tenants meet first. */
  #isLimitedByLayer: boolean;

  constructor(mps: MpsSystem, layer: System) {
    this.#mps = mps;
    this.#layer = layer;
    // It says whether the layer is proven.
    this.name = layer.name;
    this.unavailable = mps.unavailable ?? layer.unavailable;
    this.limitsCoexist = mps.limitsCoexist && layer.limitsCoexist;
    this.staggerStarts = layer.staggerStarts;
    this.launcher = mps.launcher;
    this.whyNoPrograms = mps.whyNoPrograms ?? layer.whyNoPrograms;
    this.#isLimitedByLayer = layer.capabilities.memLimit !== 'none';
  }

  get capabilities(): Capabilities {
    const [mps, layer] = [this.#mps.capabilities, this.#layer.capabilities];
    const ofMemory = this.#isLimitedByLayer ? layer : mps;
    return {
      memLimit: ofMemory.memLimit,
      computeLimit: mps.computeLimit,
      needsRoot: layer.needsRoot,
      needsIdleGpu: layer.needsIdleGpu,
      changesGlobalGpuState: layer.changesGlobalGpuState,
      limitGranularity: {
        memoryBytes: ofMemory.limitGranularity.memoryBytes,
        smPercent: mps.limitGranularity.smPercent,
      },
    };
  }

  get settings(): Record<string, string> {
    return { ...this.#layer.settings, ...this.#mps.settings };
  }

  get limitsAreFixed(): boolean {
    return this.#layer.limitsAreFixed === true && this.#layer.limits().memoryBytes !== null;
  }

  async prepare(run: RunState): Promise<void> {
    await this.#mps.prepare(run);
    const directory = await privateDirectory(join(run.directory, this.#mps.name, 'layer'));
    await this.#layer.prepare({ ...run, directory, isUnderMps: true });
    const [pinned, own] = [this.#mps.limits().memoryBytes, this.#layer.limits().memoryBytes];
    this.#isLimitedByLayer &&= pinned === null || (own !== null && own <= pinned);
  }

  async prepareTenant(tenant: Tenant): Promise<void> {
    await this.#mps.prepareTenant(this.#ofMps(tenant));
    await this.#layer.prepareTenant(this.#ofLayer(tenant));
  }

  environment(tenant: Tenant = SOLE_TENANT): NodeJS.ProcessEnv {
    return { ...this.#layer.environment(this.#ofLayer(tenant)), ...this.#mps.variables(this.#ofMps(tenant)) };
  }

  argvPrefix(tenant: Tenant = SOLE_TENANT): readonly string[] {
    return this.#layer.argvPrefix(this.#ofLayer(tenant));
  }

  /** Both limits of memory hold, so the smaller one is the tenant's. */
  limits(tenant: Tenant = SOLE_TENANT): Limits {
    const { softMemoryBytes, ...mps } = this.#mps.limits(this.#ofMps(tenant));
    const own = this.#layer.limits(this.#ofLayer(tenant)).memoryBytes;
    const both = [mps.memoryBytes, own].filter((bytes) => bytes !== null);
    if (both.length === 0) return mps;
    const memoryBytes = Math.min(...both);
    return {
      ...mps,
      memoryBytes,
      ...(softMemoryBytes !== undefined && { softMemoryBytes: Math.min(softMemoryBytes, memoryBytes) }),
    };
  }

  /** An allocation over the larger limit would be refused by the smaller one, and prove nothing. */
  canaries(tenant: Tenant = SOLE_TENANT): readonly Canary[] {
    const pinned = this.#mps.limits(this.#ofMps(tenant)).memoryBytes;
    const possible = this.#layer
      .canaries(this.#ofLayer(tenant))
      .filter(({ bytes, expected }) => expected === 'refused' || pinned === null || bytes + CONTEXT_BYTES <= pinned);
    return this.#hidesPinned(tenant) ? possible : [...possible, ...this.#mps.canaries(this.#ofMps(tenant))];
  }

  async attest(description: Description, evidence: Evidence = FIRST_LOOK): Promise<Attestation> {
    const { tenant } = evidence;
    const client = await this.#mps.attest(description, { ...evidence, tenant: this.#ofMps(tenant) });
    const layered = await this.#layer.attest(description, { ...evidence, tenant: this.#ofLayer(tenant) });
    const both = joined(client, layered);
    return { ...both, warnings: [...both.warnings, ...this.#unchecked(tenant)] };
  }

  betweenLimits(): Promise<void> {
    return this.#layer.betweenLimits();
  }

  changeLimit(): Promise<string> {
    return this.#mps.changeLimit();
  }

  ownStateFiles(tenant: Tenant): readonly string[] {
    return this.#layer.ownStateFiles?.(this.#ofLayer(tenant)) ?? [];
  }

  async recover(): Promise<void> {
    await this.#layer.recover?.();
    await this.#mps.recover();
  }

  reap(tenant: Tenant): Promise<void> {
    return this.#both((system) => system.reap(tenant));
  }

  teardown(): Promise<void> {
    return this.#both((system) => system.teardown());
  }

  /** Ends what is of the layer first, which is in the directory of MPS; MPS ends even if that fails. */
  async #both(step: (system: System) => Promise<void>): Promise<void> {
    try {
      await step(this.#layer);
    } finally {
      await step(this.#mps);
    }
  }

  /** Whether the layer refuses at or below the limit of MPS. */
  #hidesPinned(tenant: Tenant): boolean {
    const pinned = this.#mps.limits(this.#ofMps(tenant)).memoryBytes;
    const own = this.#layer.limits(this.#ofLayer(tenant)).memoryBytes;
    return pinned !== null && own !== null && own <= pinned;
  }

  #unchecked(tenant: Tenant): string[] {
    const pinned = this.#mps.limits(this.#ofMps(tenant)).memoryBytes;
    if (pinned === null || !this.#hidesPinned(tenant)) return [];
    return [
      `memory of ${this.#mps.name} (${inWords(pinned)}) is not checked: the layer's limit is no larger, and refuses first.`,
    ];
  }

  /** The tenant as MPS sees it: a memory limit that a metric sets is set by whichever limits it. */
  #ofMps(tenant: Tenant): Tenant {
    const { id, limits } = tenant;
    if (typeof limits?.memoryBytes !== 'number' || !this.#isLimitedByLayer) return tenant;
    const { memoryBytes: _, ...others } = limits;
    return { id, limits: others };
  }

  #ofLayer({ id, limits }: Tenant): Tenant {
    if (!limits) return { id };
    const { memoryBytes } = limits;
    const isOurs = memoryBytes === null || (memoryBytes !== undefined && this.#isLimitedByLayer);
    return { id, limits: { smPercent: null, ...(isOurs && { memoryBytes }) } };
  }
}
