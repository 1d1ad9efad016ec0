/**
 * NVIDIA MPS: a private control daemon in the run's own directory, one server on the measured GPU (or on every visible
 * one), and clients that find it by CUDA_MPS_PIPE_DIRECTORY. The daemon runs only while a tenant does: its server holds
 * a context, which would warm the driver for the other systems (cuInit of a plain process took 8 ms instead of 97 on an
 * H200). A client that does not reach its daemon silently runs without MPS, so every process must prove that it is a
 * client. Source: the MPS documentation.
 */
import { join } from 'node:path';
import { BenchError } from '../../../errors/bench-error.js';
import { UsageError } from '../../../errors/usage-error.js';
import { inWords, resolveSize, type Size } from '../../../config/size.js';
import { packageRoot } from '../../../package-root.js';
import type { Description } from '../../../workers/description.js';
import { allocationCanary, bareDriver, deviceSeen, measuredDevice, mpsClient } from '../../proof/attestation.js';
import type { Finding } from '../../proof/proof-finding.js';
import type { Launcher } from '../../../workers/launcher.js';
import { local } from '../../../workers/local.js';
import { dmemFiles, whyNoDmem } from './dmem.js';
import { inPath } from '../../input/in-path.js';
import { judge } from '../../proof/judgement.js';
import { pinnedMemory, threadPercentage } from '../../proof/mps-limits.js';
import { MpsDaemon, placesOf } from './mps-daemon.js';
import { featureText, mpsFeatures, MPS_CONTROL } from './mps-features.js';
import { ownPipes, partitionSize } from './mps-proofs.js';
import { knowsCommand } from './knows-command.js';
import { driverLimits, smiWithLimits } from './memory-limits.js';
import {
  dropGroup,
  expectCgroup,
  type Group,
  GROUP_VARIABLE,
  inGroup,
  inGroups,
  makeGroup,
  type MemoryLimits,
} from './tenant-group.js';
import { CleanUpGuardian } from '../../process/clean-up-guardian.js';
import { type Prepared, Profile, type ProfileOptions, type WantedLimits } from '../../profile.js';
import type { Attestation, Capabilities, Evidence, Limits, RunState, Tenant } from '../../system.js';
import { SOLE_TENANT } from '../../system.js';

const MIB = 2 ** 20;
const START_MS = 30_000;
const groupGuardian = join(packageRoot, 'dist/systems/kinds/mps/group-guardian.js');
/** A socket's path has at most 108 bytes, and the daemon appends names. */
const LONGEST_DIRECTORY = 80;

interface MpsOptions extends Omit<ProfileOptions, 'layerFolders'>, WantedLimits {
  /** GPUs that the daemon serves. Default: the measured one. */
  gpus?: 'measured' | 'visible';
  /** Chunks of SMs that each tenant owns (static partitioning); the driver then ignores thread percentages. */
  partition?: number | undefined;
  /** The cgroup in which each tenant has one with its memory limits; null: the limit is one of each client. */
  groups?: string | null;
  /** Memory that a tenant keeps on a full card, with `groups`. Default: none. */
  soft?: Size | undefined;
  /** Whether its clients are under a layer too, which proves what they have mapped. Default false. */
  hasLayer?: boolean;
  /** Timeout of each step of the daemon's start. Default 30 s. */
  startTimeoutMs?: number;
}

interface WantedGroup {
  root: string;
  name: string;
  limits: MemoryLimits;
}

export class MpsSystem extends Profile {
  readonly kind = 'mps';
  readonly usesMps = true;
  readonly showsMeasuredFirst = true;
  override readonly unavailable: string | null;
  override readonly limitsCoexist: boolean;
  readonly severalGpusBy?: string;
  readonly capabilities: Capabilities;
  readonly #options: MpsOptions;
  readonly #control: string | null;
  #daemon: MpsDaemon | null = null;
  #starting: Promise<void> | null = null;
  /** Every running tenant, with its partition of the SMs. */
  readonly #living = new Map<number, string | null>();
  readonly #groups = new Map<number, Promise<Group>>();
  /** The nvidia-smi that sets limits of cgroups; null: their files do, or none are wanted. */
  #smi: string | null;
  #groupGuardian: CleanUpGuardian | null = null;
  #features: string | null = null;
  override readonly launcher: Launcher;
  readonly whyNoPrograms?: string;

  constructor(options: MpsOptions) {
    super(options);
    this.#options = options;
    this.#control = inPath(MPS_CONTROL, this.#path);
    const { groups = null } = options;
    this.#smi = groups === null ? null : smiWithLimits(this.#path);
    const whyNoGroups = groups === null || this.#smi !== null ? null : whyNoDmem(groups);
    this.unavailable = whyUnavailable(this.#control, options.partition) ?? whyNoGroups;
    this.launcher = groups === null ? local : inGroups;
    if (groups !== null)
      this.whyNoPrograms = `exec starts no program in a cgroup of ${this.name}: leave enforcer=cgroup out, or measure by compare`;
    if (options.gpus !== 'visible') this.severalGpusBy = 'gpus=visible';
    // Partitions are all of the system's size.
    this.limitsCoexist = options.partition === undefined;
    this.capabilities = {
      memLimit: groups === null ? 'perProcess' : 'perTenantPool',
      computeLimit: options.partition === undefined ? 'smCap' : 'hardware',
      needsRoot: false,
      needsIdleGpu: false,
      changesGlobalGpuState: false,
      limitGranularity: { memoryBytes: MIB, smPercent: null },
    };
  }

  override get settings(): Record<string, string> {
    const { [GROUP_VARIABLE]: _, ...settings } = super.settings;
    return {
      ...settings,
      ...(this.#features !== null && { 'mps.features': this.#features }),
      ...(this.#options.groups && {
        'mps.enforcer': `cgroup below ${this.#options.groups}, ${this.#smi === null ? 'dmem' : 'nvidia-smi memory-limits'}`,
      }),
    };
  }

  /** With partitions no tenant can have another percentage. */
  override limits(tenant: Tenant = SOLE_TENANT): Limits {
    const limits = super.limits(tenant);
    const { partition, soft } = this.#options;
    if (partition !== undefined) limits.smPercent = null;
    // A tenant may have a lower limit than the system.
    if (soft && limits.memoryBytes !== null)
      limits.softMemoryBytes = Math.min(this.#softBytes(soft, this.prepared.run), limits.memoryBytes);
    return limits;
  }

  #softBytes(soft: Size, { gpu }: RunState): number {
    return resolveSize(soft, gpu.memoryBytes, `soft of ${this.name}`);
  }

  async attest(description: Description, evidence?: Evidence): Promise<Attestation> {
    const look = this.look(evidence);
    const { gpu } = this.prepared.run;
    const device = measuredDevice(description, gpu);
    const { memoryBytes, smPercent } = this.limits(look.tenant);
    const { partition, hasLayer = false } = this.#options;
    const limits: Finding[] = [];
    if (partition !== undefined) limits.push(partitionSize(device, gpu.multiprocessors, partition));
    else if (smPercent !== null && smPercent !== 100)
      limits.push(threadPercentage(device, gpu.multiprocessors, smPercent));
    const group = await this.#groups.get(look.tenant.id);
    if (group !== undefined) limits.push(...(await inGroup(description.pid, group)));
    // A layer shows free memory of its own.
    else if (memoryBytes !== null && !hasLayer) limits.push(pinnedMemory(look.probe, gpu.memoryBytes, memoryBytes));
    return judge(description, look, null, [
      mpsClient(device),
      ownPipes(description.environment, placesOf(this.prepared.directory).CUDA_MPS_PIPE_DIRECTORY),
      ...(hasLayer ? [] : bareDriver(description)),
      deviceSeen(device, gpu),
      ...limits,
      ...allocationCanary(look.probe, this.canaries(look.tenant)),
    ]);
  }

  protected override checkRun(run: RunState): void {
    super.checkRun(run);
    const { soft, memory } = this.#options;
    if (!soft || !memory) return;
    const [bytes, most] = [
      this.#softBytes(soft, run),
      resolveSize(memory, run.gpu.memoryBytes, `memory of ${this.name}`),
    ];
    if (bytes > most)
      throw new UsageError(
        `Expected soft of ${this.name} to be at most its memory, ${inWords(most)}, but received ${inWords(bytes)}.`,
      );
  }

  /** set_active_thread_percentage of the control program affects only new clients. */
  changeLimit(): Promise<string> {
    return Promise.resolve('MPS fixes the thread percentage of a client when it starts');
  }

  protected override wantedLimits(): WantedLimits {
    return this.#options;
  }

  override async prepareTenant(tenant: Tenant): Promise<void> {
    const { id } = tenant;
    if (this.#control === null) return;
    await this.#makeGroup(tenant);
    const daemon = await this.#startOnce(this.#control);
    const { partition } = this.#options;
    const own = this.#living.get(id) ?? null;
    this.#living.set(id, partition === undefined || own !== null ? own : await daemon.addPartition(partition));
  }

  override async reap({ id }: Tenant): Promise<void> {
    const partition = this.#living.get(id) ?? null;
    this.#living.delete(id);
    const left = await this.#removeGroup(id);
    if (this.#living.size === 0) left.push(...(await this.#quit()));
    else if (partition !== null) await this.#daemon?.removePartition(partition);
    if (left.length > 0) throw new BenchError('SYSTEM', `${this.name}: ${left.join('; ')}.`);
  }

  /** After a fault the server accepts no client until all clients have left; a new daemon accepts them at once. */
  async recover(): Promise<void> {
    const [left] = await this.#quit();
    if (left !== undefined) throw new BenchError('SYSTEM', `${this.name}: ${left}.`);
    const tenants = [...this.#living.keys()];
    this.#living.clear();
    for (const id of tenants) await this.prepareTenant({ id });
  }

  protected override async begin({ directory, run }: Prepared): Promise<void> {
    if (directory.length > LONGEST_DIRECTORY)
      throw new BenchError(
        'SYSTEM',
        `Expected a directory of at most ${LONGEST_DIRECTORY} characters for the MPS daemon but received ${directory}: set TMPDIR to a shorter one.`,
      );
    const groups = this.#options.groups ?? undefined;
    // What this machine's programs know says nothing of a simulated driver, and files stand in for its cgroups.
    if (run.target.simulatedDriver === null) this.#features = featureText(await mpsFeatures(this.#path, groups));
    else if (groups !== undefined && whyNoDmem(groups) === null) this.#smi = null;
  }

  protected override async end(): Promise<string[]> {
    this.#living.clear();
    this.#groups.clear();
    const left = (await this.#groupGuardian?.end()) ?? [];
    this.#groupGuardian = null;
    return [...left, ...(await this.#quit())];
  }

  async #makeGroup(tenant: Tenant): Promise<void> {
    const wanted = this.#wantedGroup(tenant);
    if (wanted === null) return;
    if (!this.#groups.has(tenant.id)) this.#groups.set(tenant.id, this.#newGroup(wanted));
    await this.#groups.get(tenant.id);
  }

  #newGroup({ root, name, limits }: WantedGroup): Promise<Group> {
    const { target, gpu } = this.prepared.run;
    expectCgroup(root, target.simulatedDriver !== null);
    this.#groupGuardian ??= new CleanUpGuardian({
      program: groupGuardian,
      argv: [root, this.#groupPrefix, ...(this.#smi === null ? [] : [this.#smi, gpu.uuid])],
      environment: { PATH: this.#path },
      what: 'cgroups',
    });
    const setter = this.#smi === null ? dmemFiles(root, gpu.pciBusId) : driverLimits(this.#smi, this.#path, gpu.uuid);
    return makeGroup(root, name, limits, setter);
  }

  get #path(): string {
    return this.#options.caller.PATH ?? '';
  }

  get #groupPrefix(): string {
    return `gvb-${this.prepared.run.runId}-${this.name}-`;
  }

  /** Its name has the limits, so that tenants with others are seen to start differently. Null: no limit by cgroup. */
  #wantedGroup(tenant: Tenant): WantedGroup | null {
    const { groups: root = null } = this.#options;
    const { memoryBytes, softMemoryBytes } = this.limits(tenant);
    if (root === null || memoryBytes === null) return null;
    const limits = { hard: memoryBytes, ...(softMemoryBytes !== undefined && { soft: softMemoryBytes }) };
    return { root, name: `${this.#groupPrefix}${[tenant.id, ...Object.values(limits)].join('.')}`, limits };
  }

  async #removeGroup(id: number): Promise<string[]> {
    const making = this.#groups.get(id);
    this.#groups.delete(id);
    // Whoever asked for a group that could not be made was told; its guardian removes what there is of it.
    const group = await making?.catch(() => null);
    return group ? dropGroup(group) : [];
  }

  /** Ends a daemon that fails to start: left running, it would warm the driver for the other systems. */
  async #startOnce(control: string): Promise<MpsDaemon> {
    this.#daemon ??= this.#newDaemon(control);
    const daemon = this.#daemon;
    this.#starting ??= daemon.start();
    try {
      await this.#starting;
      return daemon;
    } catch (error) {
      const left = await this.#quit();
      if (left.length > 0 && error instanceof Error) error.message += ` ${left.join('; ')}.`;
      throw error;
    }
  }

  #newDaemon(control: string): MpsDaemon {
    const { directory, run } = this.prepared;
    const { startTimeoutMs = run.timeoutMs ?? START_MS, partition } = this.#options;
    const partitioned = partition !== undefined;
    const gpus = this.#gpus();
    return new MpsDaemon({
      name: this.name,
      control,
      path: this.#path,
      directory,
      run,
      gpus,
      startTimeoutMs,
      partitioned,
    });
  }

  /** UUIDs, the measured one's first. */
  #gpus(): string[] {
    const { gpu, otherGpus } = this.prepared.run;
    return [gpu.uuid, ...(this.#options.gpus === 'visible' ? otherGpus : [])];
  }

  async #quit(): Promise<string[]> {
    const daemon = this.#daemon;
    this.#daemon = null;
    this.#starting = null;
    return daemon ? daemon.quit() : [];
  }

  /**
   * Which GPUs its programs see, where there are several: those that the daemon serves, because a client counts all of the
   * machine, and the measured one first, because the order of the daemon's own list does not reach its clients.
   */
  #seen(): Record<string, string> {
    const isOnly = this.prepared.run.otherGpus.length === 0 && this.#options.caller.CUDA_VISIBLE_DEVICES === undefined;
    return isOnly ? {} : { CUDA_VISIBLE_DEVICES: this.#gpus().join(',') };
  }

  #pinnedLimit(memoryBytes: number): string {
    return this.#gpus()
      .map((_, index) => `${index}=${Math.floor(memoryBytes / MIB)}M`)
      .join(',');
  }

  override variables(tenant: Tenant): Record<string, string> {
    const { memoryBytes, smPercent } = this.limits(tenant);
    const partition = this.#living.get(tenant.id) ?? null;
    const group = this.#wantedGroup(tenant);
    return {
      ...placesOf(this.prepared.directory),
      ...this.#seen(),
      ...(smPercent !== null && { CUDA_MPS_ACTIVE_THREAD_PERCENTAGE: `${smPercent}` }),
      ...(partition !== null && { CUDA_MPS_SM_PARTITION: partition }),
      ...(group && { [GROUP_VARIABLE]: join(group.root, group.name) }),
      ...(memoryBytes !== null &&
        !this.#options.groups && { CUDA_MPS_PINNED_DEVICE_MEM_LIMIT: this.#pinnedLimit(memoryBytes) }),
    };
  }
}

function whyUnavailable(control: string | null, partition: number | undefined): string | null {
  if (control === null) return `${MPS_CONTROL} is not in PATH`;
  if (partition === undefined || knowsCommand(control, 'sm_partition')) return null;
  return `${control} has no command sm_partition: static partitioning needs a control program of 13.1 or newer (driver R590)`;
}
