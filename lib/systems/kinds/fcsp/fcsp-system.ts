/**
 * BUD-FCSP: closed source, known only from its documents. Its library has the same file name as HAMi-core's, so a name
 * proves nothing. Its state is found by looking for files that appear when a process starts.
 */
import { dirname } from 'node:path';
import type { Description } from '../../../workers/description.js';
import * as proofs from '../../proof/attestation.js';
import type { Finding } from '../../proof/proof-finding.js';
import { exportedSymbols } from '../../proof/elf.js';
import { sha256 } from '../../proof/file-hash.js';
import { NO_LIBRARY } from '../hami-core/hami-core-system.js';
import { driverCode, ownLibcuda } from '../../proof/hidden-interception.js';
import { judge } from '../../proof/judgement.js';
import { type Prepared, Profile, type ProfileOptions, type WantedLimits } from '../../profile.js';
import { discover, type Snapshot, snapshot } from '../../process/state-discovery.js';
import type { Attestation, Canary, Capabilities, Evidence, Tenant } from '../../system.js';
import { SOLE_TENANT } from '../../system.js';

const hooked = ['cuMemAlloc', 'cuLaunchKernel'];

export interface FcspOptions extends Omit<ProfileOptions, 'layerFolders'>, WantedLimits {
  /** Checked and absolute; null if none was named. */
  library: string | null;
  /** Why the named library is missing. */
  missing?: string;
  /** All variables except the limits. */
  variables: Record<string, string>;
  /** Deleted between tenants and at the end, so that no limit outlives its run. */
  stateFiles: readonly string[];
  /** Where to look for state; tests use other places. */
  places?: readonly string[];
}

export class FcspSystem extends Profile {
  readonly kind = 'fcsp';
  override readonly unavailable: string | null;
  /** Whether simultaneous starts work is unknown; with HAMi-core they do not. */
  override readonly staggerStarts = true;
  readonly capabilities: Capabilities = {
    memLimit: 'perTenantPool',
    computeLimit: 'softDutyCycle',
    needsRoot: false,
    needsIdleGpu: false,
    changesGlobalGpuState: false,
    limitGranularity: { memoryBytes: null, smPercent: 1 },
  };
  readonly #options: FcspOptions;
  readonly #library: string;
  #sha256: string | null = null;
  #before: Snapshot | null = null;
  readonly #living = new Set<number>();

  constructor(options: FcspOptions) {
    super({ ...options, ...(options.library !== null && { layerFolders: [dirname(options.library)] }) });
    this.#options = options;
    this.#library = options.library ?? '';
    this.unavailable = options.library === null ? (options.missing ?? NO_LIBRARY) : null;
  }

  override async prepareTenant({ id }: Tenant): Promise<void> {
    this.#living.add(id);
    this.#before = await snapshot(this.#options.places);
  }

  override async betweenLimits(): Promise<void> {
    await this.#forget();
  }

  override async reap({ id }: Tenant): Promise<void> {
    this.#living.delete(id);
    // Whether tenants share state is unknown, so all of it is kept while any tenant runs.
    if (this.#living.size === 0) await this.#forget();
  }

  /**
   * Always refuses: the documentation says that limits change through variables, which a running process does not read
   * again.
   */
  changeLimit(): Promise<string> {
    return Promise.resolve(
      'BUD-FCSP reads its limits from environment variables at start, so a running process keeps them',
    );
  }

  /** No canaries if limits are soft: the documentation says that `soft` grants memory over the limit. */
  override canaries(tenant: Tenant = SOLE_TENANT): Canary[] {
    return this.#options.variables.BUD_MEMORY_LIMIT_MODE === 'soft' ? [] : super.canaries(tenant);
  }

  async attest(description: Description, evidence?: Evidence): Promise<Attestation> {
    const look = this.look(evidence);
    const { run } = this.prepared;
    const layer = await proofs.layerInfo(description, this.#library);
    const device = proofs.measuredDevice(description, run.gpu);
    const { memoryBytes } = this.limits(look.tenant);
    const attestation = judge(description, look, layer, [
      proofs.libraryIdentity(layer, this.#library, this.#sha256),
      await ownExports(this.#library),
      proofs.functionOwners(description, hooked, ['runtime', 'dlsym'], this.#library),
      driverCode(description, this.#library),
      ownLibcuda(description),
      proofs.deviceSeen(device, run.gpu),
      ...this.noMpsClient(device),
      ...(memoryBytes === null ? [] : [proofs.memoryView(device, look.probe, run.gpu, memoryBytes)]),
      ...proofs.allocationCanary(look.probe, this.canaries(look.tenant)),
    ]);
    return { ...attestation, warnings: [...attestation.warnings, ...(await this.#newState(description.pid))] };
  }

  protected override wantedLimits(): WantedLimits {
    return this.#options;
  }

  protected override async begin({ files }: Prepared): Promise<void> {
    this.#sha256 = await sha256(this.#library);
    await files.claim(this.#options.stateFiles);
  }

  protected variables(tenant: Tenant): Record<string, string> {
    const { memoryBytes, smPercent } = this.limits(tenant);
    return {
      LD_PRELOAD: this.#library,
      ...(memoryBytes !== null && { BUD_MEMORY_LIMIT: `${memoryBytes}` }),
      // The documents name the first variable; the upstream runner sets the second.
      ...(smPercent !== null && { BUD_SM_LIMIT: `${smPercent}`, BUD_COMPUTE_LIMIT: `${smPercent}` }),
      ...this.#options.variables,
    };
  }

  /**
   * Files that the worker holds and that did not exist before it started belong to the layer and are deleted with the
   * rest.
   */
  async #newState(pid: number): Promise<string[]> {
    if (!this.#before) return [];
    const { held, unclaimed } = await discover(this.#before, pid, this.#options.places);
    const { directory, files } = this.prepared;
    files.adopt(held.filter((path) => !path.startsWith(`${directory}/`)));
    if (unclaimed.length === 0) return [];
    const list = unclaimed.slice(0, 5).join(', ');
    return [
      `These files appeared while ${this.name} started, are not open in its processes and were left in place: ${list}. List those of the layer in stateFiles.`,
    ];
  }

  async #forget(): Promise<void> {
    const { files } = this.prepared;
    await files.remove();
    await files.claim(this.#options.stateFiles);
  }
}

/** HAMi-core's library has the same file name but none of these exports. */
async function ownExports(library: string): Promise<Finding> {
  const names = [...((await exportedSymbols(library)) ?? [])].filter((name) => name.startsWith('bud_'));
  return {
    proof: "the library's own exports (bud_*)",
    passed: names.length > 0,
    detail: `${names.length} exported names begin with bud_`,
    advice: "Give BUD-FCSP's library: HAMi-core's has the same file name.",
  };
}
