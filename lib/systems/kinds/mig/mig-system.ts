/**
 * MIG: existing instances of one card. Each instance is a GPU to the system inside, by default the bare driver, which is
 * prepared once for each.
 */
import { join } from 'node:path';
import { BenchError } from '../../../errors/bench-error.js';
import type { Description } from '../../../workers/description.js';
import type { Launcher } from '../../../workers/launcher.js';
import { profileOf } from '../../../environment/named-gpu.js';
import type { MigInstance } from '../../../native/addon-types.js';
import { allocationCanary } from '../../proof/attestation.js';
import { joined } from '../../proof/joined.js';
import { judge } from '../../proof/judgement.js';
import type {
  Attestation,
  Canary,
  Capabilities,
  Evidence,
  Limits,
  RunState,
  System,
  Tenant,
  TrueGpu,
} from '../../system.js';
import { FIRST_LOOK, SOLE_TENANT } from '../../system.js';
import { privateDirectory, removeDirectory } from '../../process/state-files.js';
import { chooseInstances, listInstances, type Wanted } from './instances.js';
import { seenInside, seenOutside } from './mig-proofs.js';

/** Beyond what an instance has. */
const OVER_BYTES = 2 ** 28;

interface MigOptions extends Wanted {
  /** Whether every tenant has an instance of its own, as long as there are enough. */
  tenants: 'own' | 'shared';
  /** Creates the system inside; called once for each instance. */
  createLayer: (name: string) => System;
}

interface Part {
  instance: MigInstance;
  gpu: TrueGpu;
  layer: System;
}

export class MigSystem implements System {
  readonly kind = 'mig';
  readonly name: string;
  readonly picksGpu = true;
  readonly showsMeasuredFirst = true;
  readonly #options: MigOptions;
  readonly #first: System;
  #run: RunState | null = null;
  #parts: readonly Part[] = [];
  readonly #directories: string[] = [];

  constructor(options: MigOptions) {
    this.#options = options;
    this.name = options.name;
    this.#first = options.createLayer(options.name);
    const { changeLimit, recover } = this.#first;
    if (changeLimit) this.changeLimit = (tenant, percent) => this.#of(tenant).changeLimit?.(tenant, percent) ?? nothing;
    if (recover) this.recover = () => this.#all((layer) => layer.recover?.());
  }

  changeLimit?: (tenant: Tenant, smPercent: number) => Promise<string | null>;
  recover?: () => Promise<void>;

  get unavailable(): string | null {
    return this.#first.unavailable;
  }

  get usesMps(): boolean {
    return this.#first.usesMps === true;
  }

  get limitsCoexist(): boolean {
    return this.#first.limitsCoexist;
  }

  get staggerStarts(): boolean {
    return this.#first.staggerStarts;
  }

  get whyNoPrograms(): string | undefined {
    return this.#first.whyNoPrograms;
  }

  get provesByKernels(): boolean | undefined {
    return this.#first.provesByKernels;
  }

  get wantsProbe(): boolean {
    return this.#first.wantsProbe;
  }

  get launcher(): Launcher {
    return this.#first.launcher;
  }

  /** An instance is a limit in hardware, unless the system inside sets a smaller one. */
  get capabilities(): Capabilities {
    const inner = this.#first.capabilities;
    return {
      ...inner,
      memLimit: inner.memLimit === 'none' ? 'hardware' : inner.memLimit,
      computeLimit: inner.computeLimit === 'none' ? 'hardware' : inner.computeLimit,
    };
  }

  get isBare(): boolean {
    return this.#first.isBare === true;
  }

  ownGpu(tenant: Tenant = SOLE_TENANT): TrueGpu | undefined {
    return this.#parts.length === 0 ? undefined : this.#part(tenant).gpu;
  }

  get settings(): Record<string, string> {
    const [first] = this.#parts;
    if (!first) return {};
    const count = this.#parts.length;
    return {
      'mig.profile': profileOf(first.instance.name) ?? 'unknown',
      'mig.instances': this.#parts.map(({ instance }) => instance.uuid).join(','),
      'mig.card': first.instance.parent,
      'mig.tenants': count === 1 ? 'share one instance' : `an instance each, up to ${count}; more share them`,
      ...this.#first.settings,
    };
  }

  async prepare(run: RunState): Promise<void> {
    const { name, tenants, instance, createLayer } = this.#options;
    const found = chooseInstances(await listInstances(run.target), this.#options);
    const used = tenants === 'shared' || instance !== undefined ? found.slice(0, 1) : found;
    this.#run = run;
    this.#parts = used.map((one, place) => ({
      instance: one,
      gpu: gpuOf(one),
      layer: place === 0 ? this.#first : createLayer(name),
    }));
    for (const [place, { layer, gpu }] of this.#parts.entries()) {
      const directory = place === 0 ? run.directory : await this.#further(run.directory, place);
      await layer.prepare({ ...run, directory, gpu, otherGpus: [], besideInstances: false });
    }
  }

  environment(tenant: Tenant = SOLE_TENANT): NodeJS.ProcessEnv {
    const { gpu, layer } = this.#part(tenant);
    return { ...layer.environment(tenant), CUDA_VISIBLE_DEVICES: gpu.uuid };
  }

  argvPrefix(tenant: Tenant = SOLE_TENANT): readonly string[] {
    return this.#of(tenant).argvPrefix(tenant);
  }

  limits(tenant: Tenant = SOLE_TENANT): Limits {
    const { gpu, layer } = this.#part(tenant);
    const inner = layer.limits(tenant);
    return this.#first.capabilities.memLimit === 'none' ? { ...inner, memoryBytes: gpu.memoryBytes } : inner;
  }

  canaries(tenant: Tenant = SOLE_TENANT): readonly Canary[] {
    const { gpu, layer } = this.#part(tenant);
    return [...layer.canaries(tenant), { bytes: gpu.memoryBytes + OVER_BYTES, expected: 'refused' }];
  }

  prepareTenant(tenant: Tenant): Promise<void> {
    return this.#of(tenant).prepareTenant(tenant);
  }

  ownStateFiles(tenant: Tenant): readonly string[] {
    return this.#of(tenant).ownStateFiles?.(tenant) ?? [];
  }

  async attest(description: Description, evidence?: Evidence): Promise<Attestation> {
    const look = evidence ?? FIRST_LOOK;
    const { instance, gpu, layer } = this.#part(look.tenant);
    const { devices } = description.inspection;
    const listed = look.phase === 'process' || this.#run === null ? null : await listInstances(this.#run.target);
    const over = { bytes: gpu.memoryBytes + OVER_BYTES, expected: 'refused' } as const;
    const outside = judge(description, look, null, [
      ...seenInside(devices, instance, layer.capabilities.computeLimit === 'none'),
      ...(listed === null ? [] : [seenOutside(listed, instance)]),
      ...allocationCanary(look.probe, [over], look.phase),
    ]);
    return joined(outside, await layer.attest(description, evidence));
  }

  betweenLimits(): Promise<void> {
    return this.#all((layer) => layer.betweenLimits());
  }

  reap(tenant: Tenant): Promise<void> {
    return this.#of(tenant).reap(tenant);
  }

  async teardown(): Promise<void> {
    await this.#all((layer) => layer.teardown());
    this.#parts = [];
    const left = (await Promise.all(this.#directories.splice(0).map(removeDirectory))).flat();
    if (left.length > 0) throw new BenchError('SYSTEM', `${this.name} could not be cleaned up: ${left.join('; ')}.`);
  }

  /** The run directory of a further layer, which has the name of the first. No system may have this name. */
  async #further(directory: string, place: number): Promise<string> {
    const own = await privateDirectory(join(directory, `${this.name}@${place + 1}`));
    this.#directories.push(own);
    return own;
  }

  /** A round's own tenant and the first of several have the first instance. */
  #part({ id }: Tenant): Part {
    const part = this.#parts[Math.max(0, id - SOLE_TENANT.id - 1) % this.#parts.length];
    if (!part) throw new Error(`${this.name} was not prepared.`);
    return part;
  }

  #of(tenant: Tenant): System {
    return this.#part(tenant).layer;
  }

  async #all(step: (layer: System) => Promise<void> | undefined): Promise<void> {
    const outcomes = await Promise.allSettled(this.#parts.map(({ layer }) => step(layer)));
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed) throw failed.reason;
  }
}

const nothing = Promise.resolve(null);

const gpuOf = ({ parentIndex, uuid, memoryBytes, multiprocessors }: MigInstance): TrueGpu => ({
  index: parentIndex,
  uuid,
  memoryBytes,
  multiprocessors: multiprocessors ?? 0,
  pciBusId: null,
});
