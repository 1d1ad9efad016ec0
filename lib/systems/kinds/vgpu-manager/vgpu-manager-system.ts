/**
 * vgpu-manager: one preloaded library. The first process writes its limits to a fixed file, and every later process
 * uses that file regardless of its environment; the file is removed whenever no tenant runs. Facts:
 * library/src/loader.c and util.c of coldzerofear/vgpu-manager 3d7f66d, and a run on an H200.
 */
import { readdir, rmdir, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { BenchError } from '../../../errors/bench-error.js';
import { UsageError } from '../../../errors/usage-error.js';
import type { Description } from '../../../workers/description.js';
import * as proofs from '../../proof/attestation.js';
import { sha256 } from '../../proof/file-hash.js';
import { NO_LIBRARY } from '../hami-core/hami-core-system.js';
import { driverCode, ownLibcuda } from '../../proof/hidden-interception.js';
import { judge } from '../../proof/judgement.js';
import { type Prepared, Profile, type ProfileOptions, type WantedLimits } from '../../profile.js';
import { forVgpuManager } from '../../../config/size.js';
import { exists } from '../../process/state-files.js';
import {
  type Attestation,
  type Capabilities,
  type Evidence,
  type Limits,
  SOLE_TENANT,
  type Tenant,
} from '../../system.js';
import { configFinding, processesUsing, readVgpuConfig, type VgpuConfig, writeCores } from './vgpu-manager-config.js';

/** 586 to 594 in the builds examined. */
const LEAST_EXPORTS = 500;
/** It exports every driver function, but on `runtime` and `dlsym` returns its own only for those that it changes. */
const hooked = ['cuInit', 'cuMemAlloc', 'cuMemGetInfo', 'cuLaunchKernel'];
/**
 * VGPU_CONTAINER_NAME, which is stored in the configuration file and identifies a file that one of our killed runs
 * left.
 */
const OURS = 'gpu-virt-bench';

export const controllers = ['delta', 'aimd', 'auto'] as const;

export interface VgpuManagerOptions extends Omit<ProfileOptions, 'layerFolders'>, WantedLimits {
  /** Checked and absolute; null if none was named. */
  library: string | null;
  /** Why the named library is missing. */
  missing?: string;
  controller: (typeof controllers)[number];
  /** Limit in per cent for using idle compute; above `sm`. */
  softCores?: number | undefined;
  /** Tests use other places; the library has no setting for them. */
  places?: { manager: string; locks: string };
}

const PLACES = { manager: '/etc/vgpu-manager', locks: '/tmp/.vgpu_lock' };

export class VgpuManagerSystem extends Profile {
  readonly kind = 'vgpu-manager';
  override readonly unavailable: string | null;
  readonly capabilities: Capabilities = {
    // Outside containers it counts the memory of all processes on the GPU against the limit (its host mode).
    memLimit: 'perTenantPool',
    computeLimit: 'softDutyCycle',
    needsRoot: false,
    needsIdleGpu: false,
    changesGlobalGpuState: false,
    limitGranularity: { memoryBytes: 1, smPercent: 1 },
  };
  readonly #options: VgpuManagerOptions;
  readonly #library: string;
  readonly #places: { manager: string; locks: string };
  #sha256: string | null = null;
  /** Folders that did not exist before: the library creates them. */
  #madeFolders: string[] = [];
  /** The variables of each running tenant. */
  readonly #living = new Map<number, string>();
  /** Changed compute limits of running tenants. */
  readonly #changed = new Map<number, number>();

  constructor(options: VgpuManagerOptions) {
    super({ ...options, ...(options.library !== null && { layerFolders: [dirname(options.library)] }) });
    this.#options = options;
    this.#library = options.library ?? '';
    this.#places = options.places ?? PLACES;
    this.unavailable = options.library === null ? (options.missing ?? NO_LIBRARY) : null;
  }

  override async prepareTenant(tenant: Tenant): Promise<void> {
    const limits = JSON.stringify(this.limits(tenant));
    if (this.#living.size === 0) await this.#claimConfig();
    else if ([...this.#living.values()].some((other) => other !== limits))
      throw new BenchError(
        'SYSTEM',
        `${this.name}: tenants with different limits cannot run at the same time: ${this.#config} holds those of the first.`,
      );
    this.#living.set(tenant.id, limits);
  }

  override async betweenLimits(): Promise<void> {
    await this.#removeConfig();
  }

  /** Its watcher copies the file in every period. */
  async changeLimit({ id }: Tenant, smPercent: number): Promise<string | null> {
    const found = await readVgpuConfig(this.#config);
    if (found === null || found === 'unknown') return `${this.#config} is missing, or its layout is unknown`;
    if (found.cores === null) return 'the tenant was started without a compute limit';
    await writeCores(this.#config, smPercent);
    this.#changed.set(id, smPercent);
    return null;
  }

  override limits(tenant: Tenant = SOLE_TENANT): Limits {
    const changed = this.#changed.get(tenant.id);
    return { ...super.limits(tenant), ...(changed !== undefined && { smPercent: changed }) };
  }

  override async reap({ id }: Tenant): Promise<void> {
    this.#living.delete(id);
    this.#changed.delete(id);
    if (this.#living.size === 0) await this.#removeConfig();
  }

  async attest(description: Description, evidence?: Evidence): Promise<Attestation> {
    const look = this.look(evidence);
    const { gpu } = this.prepared.run;
    const layer = await proofs.layerInfo(description, this.#library);
    const device = proofs.measuredDevice(description, gpu);
    const { memoryBytes } = this.limits(look.tenant);
    return judge(description, look, layer, [
      proofs.libraryIdentity(layer, this.#library, this.#sha256),
      proofs.exportCount(layer, LEAST_EXPORTS, proofs.advice.wrongLibrary),
      proofs.functionOwners(description, hooked, ['runtime', 'dlsym'], this.#library),
      driverCode(description, this.#library),
      ownLibcuda(description),
      proofs.nvmlOwner(description, this.#library),
      proofs.deviceSeen(device, gpu),
      ...this.noMpsClient(device),
      ...(memoryBytes === null ? [] : [proofs.memoryView(device, look.probe, gpu, memoryBytes)]),
      configFinding(await readVgpuConfig(this.#config), this.#wantedConfig(look.tenant)),
      ...proofs.allocationCanary(look.probe, this.canaries(look.tenant)),
    ]);
  }

  protected override wantedLimits(): WantedLimits {
    return this.#options;
  }

  protected override async begin(_prepared: Prepared): Promise<void> {
    this.#sha256 = await sha256(this.#library);
    const folders = [this.#places.manager, dirname(this.#config), this.#places.locks];
    this.#madeFolders = [];
    for (const folder of folders) if (!(await exists(folder))) this.#madeFolders.push(folder);
  }

  protected override async end({ files }: Prepared): Promise<string[]> {
    this.#living.clear();
    this.#changed.clear();
    const left = await files.remove();
    if (this.#madeFolders.includes(this.#places.locks)) await removeLocks(this.#places.locks);
    // If the folder is not empty, another vgpu-manager process uses it.
    for (const folder of this.#madeFolders.reverse()) await rmdir(folder).catch(() => {});
    this.#madeFolders = [];
    return left;
  }

  protected variables(tenant: Tenant): Record<string, string> {
    const { memoryBytes, smPercent } = this.limits(tenant);
    const { run } = this.prepared;
    return {
      LD_PRELOAD: this.#library,
      // Any other visible GPU ends the process: "cannot find the corresponding host device".
      CUDA_VISIBLE_DEVICES: run.gpu.uuid,
      MANAGER_VISIBLE_DEVICES: run.gpu.uuid,
      VGPU_CONTAINER_NAME: OURS,
      VGPU_POD_UID: run.runId,
      // If a variable is unset, it takes that of process 1, e.g. of the container this runs in.
      CUDA_MEM_LIMIT_0: memoryBytes === null ? '' : forVgpuManager(memoryBytes),
      CUDA_MEM_RATIO_0: '',
      CUDA_MEM_OVERSOLD_0: 'false',
      CUDA_CORE_LIMIT_0: `${coresOf(smPercent) ?? ''}`,
      CUDA_CORE_SOFT_LIMIT_0: `${this.#softCores(smPercent) ?? ''}`,
      CUDA_SM_CONTROLLER: this.#options.controller,
      CUDA_SM_SHARED_BUCKET: 'false',
      MANAGER_COMPATIBILITY_MODE: '0',
      EXTERNAL_SM_WATCHER_ENABLED: 'false',
      VMEMORY_NODE_ENABLED: 'false',
      LOGGER_LEVEL: '0',
    };
  }

  get #config(): string {
    return join(this.#places.manager, 'config', 'vgpu.config');
  }

  /** The library ignores a soft limit that is not above the hard one. */
  #softCores(smPercent: number | null): number | null {
    const { softCores } = this.#options;
    return smPercent !== null && softCores !== undefined && softCores > smPercent ? softCores : null;
  }

  #wantedConfig(tenant: Tenant): VgpuConfig {
    const { memoryBytes, smPercent } = this.limits(tenant);
    const { run } = this.prepared;
    return {
      containerName: OURS,
      podUid: run.runId,
      uuid: run.gpu.uuid,
      memoryBytes,
      cores: coresOf(smPercent),
      softCores: this.#softCores(smPercent),
    };
  }

  async #claimConfig(): Promise<void> {
    const path = this.#config;
    const { files } = this.prepared;
    const found = await readVgpuConfig(path);
    if (found !== null && found !== 'unknown' && found.containerName === OURS) {
      const users = await processesUsing(path);
      if (users.length > 0)
        throw new UsageError(
          `Expected ${path} not to be in use but process ${users.join(', ')} uses it, and this run would use it too: end that process first.`,
        );
      // Left by a killed run, with the folders that the library created for it.
      files.adopt([path]);
      this.#madeFolders = [...new Set([this.#places.manager, dirname(path), ...this.#madeFolders])];
    }
    const left = await files.remove([path]);
    if (left.length > 0) throw new UsageError(`${this.name}: ${left.join('; ')}.`);
    await files.claim([path]);
  }

  async #removeConfig(): Promise<void> {
    const left = await this.prepared.files.remove([this.#config]);
    if (left.length > 0) throw new BenchError('SYSTEM', `${this.name}: ${left.join('; ')}.`);
  }
}

/** Its limiter counts blocks even at 100 %, so a tenant without a limit must have none. */
const coresOf = (smPercent: number | null): number | null =>
  smPercent === null || smPercent >= 100 ? null : smPercent;

/** Removes folders that the library created; its files there hold no state. */
async function removeLocks(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((each) => /^vgpu_\d+\.lock$/.test(each)))
    await unlink(join(folder, name)).catch(() => {});
}
