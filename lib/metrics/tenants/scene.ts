/**
 * The scene of a metric: tenants of the measured system, each prepared before its first process and removed at the end.
 */
import { durationText } from '../../config/duration.js';
import { BenchError } from '../../errors/bench-error.js';
import type { DeviceTarget } from '../../native/addon-types.js';
import { reapFailure } from '../../systems/process/reaped.js';
import { SOLE_TENANT, startOf, type Tenant } from '../../systems/system.js';
import type { CommandTenant } from '../../workers/command-tenant.js';
import type { ProcessStart } from '../../workers/launcher.js';
import { Scene } from '../../workers/scene.js';
import type { Role } from '../../workers/tenant-handle.js';
import type { WorkerTenant } from '../../workers/worker-tenant.js';
import type { MeasureContext } from '../core/metric.js';

/** Tenants of a metric have ids of their own: 0 is the one whose round it is. */
export const FIRST_ID = SOLE_TENANT.id + 1;

export const targetOf = ({ simulatedDriver, options }: MeasureContext): DeviceTarget => ({
  simulatedDriver,
  device: options.device,
  path: options.path,
});

/** Far above the difference of two readings of one clock. */
const CLOCK_SLACK_NS = 5_000_000;

interface Claim {
  tenant: Tenant;
  prepared: Promise<void>;
}

export class MetricScene {
  readonly scene: Scene;
  readonly #context: MeasureContext;
  readonly #spansTurns: boolean;
  readonly #claims = new Map<number, Claim>();
  readonly #tenantOf = new Map<WorkerTenant, Tenant>();
  readonly #proven = new Set<WorkerTenant>();
  /** How those started that entered. */
  readonly #entered: ProcessStart[] = [];
  /** Processes that no one asked for yet, by the id of their tenant. */
  readonly #ahead = new Map<number, Promise<(role: Role) => Promise<WorkerTenant>>>();

  /** `spansTurns`: it measures for many turns of tenants that do not run at the same time. Default false. */
  constructor(context: MeasureContext, spansTurns = false) {
    [this.#context, this.#spansTurns] = [context, spansTurns];
    this.scene = new Scene(context.signal);
  }

  /** A worker of that tenant before its first driver call. `variables`: in addition to those that the system sets. */
  async startWorker(tenant: Tenant, role?: Role, variables: NodeJS.ProcessEnv = {}): Promise<WorkerTenant> {
    const start = await this.startOf(tenant);
    const environment = { ...start.environment, ...variables };
    const worker = await this.scene.startWorker({ ...start, environment }, role);
    this.#tenantOf.set(worker, tenant);
    return worker;
  }

  /**
   * Starts the process of a tenant that will enter, which makes no driver call until then, so that its start takes no time
   * of its own. Where the system has to start processes one after the other, or in turns, it starts when it enters.
   */
  startAhead(tenant: Tenant): void {
    if (this.#startsInOrder) return;
    const prepared = this.startOf(tenant).then((start) => this.scene.startAhead(start));
    prepared.catch(() => undefined); // Rejects where the tenant enters.
    this.#ahead.set(tenant.id, prepared);
  }

  /** A worker of that tenant that holds a session on the device. */
  async enter(tenant: Tenant, role: Role = 'victim'): Promise<WorkerTenant> {
    const worker = await this.#started(tenant, role);
    await this.hold(worker, this.#context.options.device);
    return worker;
  }

  /** Whether the system has to start processes one after the other, or in turns: none starts before it is needed. */
  get #startsInOrder(): boolean {
    const { staggerStarts, turnMs } = this.#context.system;
    return staggerStarts || turnMs !== undefined;
  }

  async #started(tenant: Tenant, role: Role): Promise<WorkerTenant> {
    const ahead = this.#ahead.get(tenant.id);
    this.#ahead.delete(tenant.id);
    const start = await this.startOf(tenant);
    this.#entered.push(start);
    const worker = ahead ? await (await ahead)(role) : await this.#startedOrSpare(start, role);
    this.#tenantOf.set(worker, tenant);
    return worker;
  }

  async #startedOrSpare(start: ProcessStart, role: Role): Promise<WorkerTenant> {
    const spare = this.#context.spares?.take(start);
    return spare ? this.scene.join(spare, role) : this.scene.startWorker(start, role);
  }

  /**
   * Starts something for each: at the same time, unless the system has to start one after the other. Rejects once all
   * have settled.
   */
  async startAll<T, R>(all: readonly T[], start: (one: T) => Promise<R>): Promise<R[]> {
    const started: Promise<R>[] = [];
    for (const one of all) {
      started.push(start(one));
      if (this.#context.system.staggerStarts) await started.at(-1);
    }
    await allOrFirstError(started);
    return Promise.all(started);
  }

  /** Workers in the order of their tenants. */
  enterAll(tenants: readonly Tenant[]): Promise<WorkerTenant[]> {
    return this.startAll(tenants, (tenant) => this.enter(tenant));
  }

  /** A victim and its neighbour. */
  async enterPair(): Promise<readonly [victim: WorkerTenant, neighbour: WorkerTenant]> {
    const roles = ['victim', 'aggressor'] as const;
    const pair = await this.startAll(roles, (role) => this.enter({ id: FIRST_ID + roles.indexOf(role) }, role));
    return pair as [WorkerTenant, WorkerTenant];
  }

  /** Makes a started worker hold a session on that device. */
  async hold(worker: WorkerTenant, device: DeviceTarget['device']): Promise<void> {
    await worker.enter({ ...targetOf(this.#context), device });
    // With a slower clock, releases at a time of that clock would come later and later; the proof names the clock's
    // owner.
    if (worker.clockOffByNs > CLOCK_SLACK_NS) await this.#context.prove(worker.worker, this.#tenantOf.get(worker));
  }

  /** Starts any program in that tenant. */
  async startCommand(tenant: Tenant, command: readonly string[], role: Role): Promise<CommandTenant> {
    return this.scene.startCommand(command, await this.startOf(tenant), role);
  }

  /** How a process of that tenant starts; prepares the tenant. */
  async startOf(tenant: Tenant): Promise<ProcessStart> {
    const { system } = this.#context;
    if (system.turnMs !== undefined && !this.#spansTurns && this.#isFurther(tenant))
      throw new BenchError(
        'FUNCTION_MISSING',
        `tenants of ${system.name} take turns of ${durationText(system.turnMs)}, and this measures them at the same time for less: of all but one it would see nothing`,
      );
    const claim = this.#claims.get(tenant.id) ?? { tenant, prepared: system.prepareTenant(tenant) };
    this.#claims.set(tenant.id, claim);
    await claim.prepared;
    return startOf(system, claim.tenant);
  }

  #isFurther({ id }: Tenant): boolean {
    return this.#claims.size > 0 && !this.#claims.has(id);
  }

  /** Proves a worker that will not live until the end. Rejects if it was not under the system. */
  async prove(tenant: WorkerTenant): Promise<void> {
    await this.#context.prove(tenant.worker, this.#tenantOf.get(tenant));
    this.#proven.add(tenant);
  }

  /** Exempts a worker that gives no number from being proven. */
  excuse(tenant: WorkerTenant): void {
    this.#proven.add(tenant);
  }

  /** Proves all that were not proven before. */
  async proveOthers(): Promise<void> {
    const others = this.scene.workers.filter((tenant) => !this.#proven.has(tenant));
    await allOrFirstError(others.map((tenant) => this.prove(tenant)));
  }

  /** Ends every process and removes the state of every tenant. Meanwhile as many start for the next scene. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#ahead.values());
    await Promise.all([this.scene.stop(), this.#startsInOrder ? null : this.#context.spares?.fill(this.#entered)]);
    for (const { tenant } of this.#claims.values()) await reapTenant(this.#context, tenant);
  }
}

/**
 * When this settles, every process has ended and all state is removed, even after an error. Every worker that still
 * exists when `use` resolves is proven to be under the system, except those that `use` proved itself.
 */
export async function inScene<T>(
  context: MeasureContext,
  use: (scene: MetricScene) => Promise<T>,
  spansTurns = false,
): Promise<T> {
  const scene = new MetricScene(context, spansTurns);
  try {
    const used = await use(scene);
    await scene.proveOthers();
    return used;
  } finally {
    await scene.close();
  }
}

/** Prepares one tenant whose processes a metric starts itself; its state is removed when this settles. */
export const inOneTenant = <T>(context: MeasureContext, use: (start: ProcessStart) => Promise<T>): Promise<T> =>
  inScene(context, async (scene) => use(await scene.startOf({ id: FIRST_ID })));

/** Never rejects: the result records state that could not be removed. */
export async function reapTenant({ system, leftBehind }: MeasureContext, tenant: Tenant): Promise<void> {
  const failure = await reapFailure(system, tenant);
  if (failure !== null) leftBehind(failure);
}

/**
 * Waits for all tasks, then rejects with the first error: a task that still runs could start a process after the
 * clean-up.
 */
export async function allOrFirstError(tasks: readonly Promise<unknown>[]): Promise<void> {
  const failed = (await Promise.allSettled(tasks)).find(({ status }) => status === 'rejected');
  if (failed) throw (failed as PromiseRejectedResult).reason;
}
