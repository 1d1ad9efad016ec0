/** HAMi-core: one preloaded library; the process that creates the shared cache reads the limits. */
import { HAMI_LIBRARY } from './hami-library.js';
import { chmod, mkdir, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { UsageError } from '../../../errors/usage-error.js';
import type { Description } from '../../../workers/description.js';
import * as proofs from '../../proof/attestation.js';
import { sha256 } from '../../proof/file-hash.js';
import { driverCode, ownLibcuda } from '../../proof/hidden-interception.js';
import { judge } from '../../proof/judgement.js';
import { type Prepared, Profile, type ProfileOptions, type WantedLimits } from '../../profile.js';
import { forHami } from '../../../config/size.js';
import { exists } from '../../process/state-files.js';
import type { Attestation, Canary, Capabilities, Evidence, Probe, Tenant } from '../../system.js';
import { overLimit, SOLE_TENANT } from '../../system.js';

const MIB = 2 ** 20;
/** A debug build exports 202; all other build types export only `dlsym`. */
const LEAST_EXPORTS = 190;
/** Why a system without a named library cannot be measured. */
export const NO_LIBRARY = 'library not available: name it with library=FILE';
const hooked = ['cuInit', 'cuMemAlloc', 'cuMemGetInfo', 'cuLaunchKernel'];

export const policies = ['force', 'disable', 'default'] as const;

export interface HamiOptions extends Omit<ProfileOptions, 'layerFolders'>, WantedLimits {
  /** Checked and absolute; null if none was named and HAMi's default path has none. */
  library: string | null;
  /** Why the named library is missing. */
  missing?: string;
  policy: (typeof policies)[number];
  /** Tests use other places. */
  places?: { lockDirectory: string; overrideFile: string };
}

const PLACES = { lockDirectory: '/tmp/vgpulock', overrideFile: '/overrideEnv' };

export class HamiCoreSystem extends Profile {
  readonly kind = 'hami-core';
  override readonly unavailable: string | null;
  /** Each tenant has its own cache, which holds its limits. */
  override readonly limitsCoexist = true;
  /** With private caches starts are not serialised, and two tenants can mistake each other's PID for their own. */
  override readonly staggerStarts = true;
  readonly #options: HamiOptions;
  readonly #library: string;
  /** A cache's limit is fixed at creation: other limits need another cache. */
  #generation = 0;
  #sha256: string | null = null;
  #madeLockDirectory = false;

  constructor(options: HamiOptions) {
    super({ ...options, ...(options.library !== null && { layerFolders: [dirname(options.library)] }) });
    this.#options = options;
    this.#library = options.library ?? HAMI_LIBRARY;
    this.unavailable = options.library === null ? (options.missing ?? NO_LIBRARY) : null;
  }

  get capabilities(): Capabilities {
    return {
      memLimit: 'perTenantPool',
      computeLimit: this.#options.policy === 'disable' ? 'none' : 'softDutyCycle',
      needsRoot: false,
      needsIdleGpu: false,
      changesGlobalGpuState: false,
      limitGranularity: { memoryBytes: 1, smPercent: 1 },
    };
  }

  override async prepareTenant(tenant: Tenant): Promise<void> {
    await this.prepared.files.claim([this.#cache(tenant)]);
  }

  ownStateFiles(tenant: Tenant): string[] {
    return [this.#cache(tenant)];
  }

  override async betweenLimits(): Promise<void> {
    await this.prepared.files.remove();
    this.#generation++;
  }

  override async reap(tenant: Tenant): Promise<void> {
    await this.prepared.files.remove([this.#cache(tenant)]);
  }

  /** init_utilization_watcher reads the limit once, and shrreg-tool cannot set it (HAMi-core 8f3a89c). */
  changeLimit(): Promise<string> {
    return Promise.resolve('a process of HAMi-core keeps the compute limit that it read when it started');
  }

  override canaries(tenant: Tenant = SOLE_TENANT): Canary[] {
    const { memoryBytes } = this.#enforced(tenant);
    // Three quarters, minus a context's memory, must fit.
    const under = Math.floor(memoryBytes * 0.75) - 640 * MIB;
    const refused = overLimit(memoryBytes, this.prepared.run.gpu);
    return under > 0 ? [...refused, { bytes: under, expected: 'granted' }] : refused;
  }

  async attest(description: Description, evidence?: Evidence): Promise<Attestation> {
    const look = this.look(evidence);
    const { gpu } = this.prepared.run;
    const { memoryBytes, smPercent } = this.#enforced(look.tenant);
    const layer = await proofs.layerInfo(description, this.#library);
    const device = proofs.measuredDevice(description, gpu);
    const { probe } = look;
    const attestation = judge(description, look, layer, [
      proofs.libraryIdentity(layer, this.#library, this.#sha256),
      proofs.exportCount(layer, LEAST_EXPORTS),
      proofs.functionOwners(description, hooked, ['runtime', 'dlsym'], this.#library),
      driverCode(description, this.#library),
      ownLibcuda(description),
      proofs.nvmlOwner(description, this.#library),
      proofs.deviceSeen(device, gpu),
      ...this.noMpsClient(device),
      proofs.memoryView(device, probe, gpu, memoryBytes),
      proofs.limitReadBack('memory limit read back', probe?.memoryLimitBytes, memoryBytes),
      proofs.limitReadBack('SM limit read back', probe?.smPercent, smPercent),
      ...proofs.allocationCanary(probe, this.canaries(look.tenant), look.phase),
    ]);
    return withPidFound(attestation, probe, this.prepared.run.isUnderMps === true);
  }

  protected override wantedLimits(): WantedLimits {
    return this.#options;
  }

  protected override async begin(_prepared: Prepared): Promise<void> {
    const { lockDirectory, overrideFile } = this.#options.places ?? PLACES;
    if (await exists(overrideFile))
      throw new UsageError(
        `Expected ${overrideFile} not to exist: HAMi-core overrides the environment with its lines; remove it.`,
      );
    this.#sha256 = await sha256(this.#library);
    this.#madeLockDirectory = await makeShared(lockDirectory);
  }

  protected override async end(_prepared: Prepared): Promise<string[]> {
    const { lockDirectory } = this.#options.places ?? PLACES;
    // If the folder is not empty, another HAMi-core process uses it.
    if (this.#madeLockDirectory) await rmdir(lockDirectory).catch(() => {});
    this.#madeLockDirectory = false;
    return [];
  }

  protected variables(tenant: Tenant): Record<string, string> {
    const { memoryBytes, smPercent } = this.#enforced(tenant);
    const { policy } = this.#options;
    return {
      LD_PRELOAD: this.#library,
      // The same file: a second copy would have separate state.
      CUDA_REDIRECT: this.#library,
      CUDA_DEVICE_MEMORY_SHARED_CACHE: this.#cache(tenant),
      CUDA_DEVICE_MEMORY_LIMIT: forHami(memoryBytes),
      CUDA_DEVICE_SM_LIMIT: `${smPercent}`,
      ...(policy !== 'default' && { GPU_CORE_UTILIZATION_POLICY: policy }),
      LIBCUDA_LOG_LEVEL: '0',
    };
  }

  /** Without a memory limit cuDeviceTotalMem returns 0, so the card's size is always set. 100 % does not throttle. */
  #enforced(tenant: Tenant) {
    const { memoryBytes, smPercent } = this.limits(tenant);
    return { memoryBytes: memoryBytes ?? this.prepared.run.gpu.memoryBytes, smPercent: smPercent ?? 100 };
  }

  #cache({ id }: Tenant): string {
    return join(this.prepared.directory, `cache-${id}-${this.#generation}`);
  }
}

/** The memory limit works without the PID, so only the compute limit is withdrawn (systems.md 15). */
function withPidFound(attestation: Attestation, probe: Probe | null, isUnderMps: boolean): Attestation {
  const pidFound = probe?.pidFound ?? null;
  if (pidFound === true) return attestation;
  if (pidFound === null) {
    const unknown = { proof: 'the layer knows its own process (pidfound)', detail: 'the layer was not queried' };
    return { ...attestation, notChecked: [...(attestation.notChecked ?? []), unknown] };
  }
  const missed = "HAMi-core did not find its own process in NVML's list, so its compute limit is off.";
  if (isUnderMps)
    return { ...attestation, warnings: [...attestation.warnings, `${missed} Under MPS, sm of mps limits compute.`] };
  const warning = `${missed} ${proofs.advice.noPid}`;
  return {
    ...attestation,
    warnings: [...attestation.warnings, warning],
    computeLimitUnsupported: 'layer cannot see its process',
  };
}

/** Releases before 2026-02 keep a lock file in it. Returns whether it was created here. */
async function makeShared(directory: string): Promise<boolean> {
  try {
    await mkdir(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
  // The umask restricts the mode given to mkdir.
  await chmod(directory, 0o1777);
  return true;
}
