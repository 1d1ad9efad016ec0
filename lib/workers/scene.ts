/**
 * Tenants that run at the same time, each with a role and a handle. The death of one is a result and does not affect
 * the others. Workers among them can be released together, at one absolute time.
 */
import { loadAddon } from '../native/load.js';
import { CommandTenant } from './command-tenant.js';
import type { ProcessStart } from './launcher.js';
import { ownSignal } from './own-signal.js';
import type { Role, TenantHandle } from './tenant-handle.js';
import { type Task, type TenantContext, WorkerTenant } from './worker-tenant.js';
import { Worker } from './worker.js';

/** Time from the request to the release: enough for the request to reach every worker on a machine that is not busy. */
const LEAD_NS = 20_000_000;
const LEAD_PER_TENANT_NS = 5_000_000;

export class Scene {
  readonly #tenants: TenantHandle[] = [];
  readonly #ahead = new Set<Promise<Worker>>();
  readonly #signal: AbortSignal;

  constructor(signal: AbortSignal) {
    this.#signal = ownSignal(signal);
  }

  /** Tenants in the order in which they started. */
  get tenants(): readonly TenantHandle[] {
    return this.#tenants;
  }

  get workers(): readonly WorkerTenant[] {
    return this.#tenants.filter((tenant) => tenant instanceof WorkerTenant);
  }

  /** Contexts of the workers that entered. */
  get contexts(): readonly TenantContext[] {
    return this.workers.flatMap(({ context }) => context ?? []);
  }

  /** Starts a worker that has made no driver call yet. */
  async startWorker(start: ProcessStart, role: Role = 'victim'): Promise<WorkerTenant> {
    return this.join(await Worker.start({ start, signal: this.#signal }), role);
  }

  /** Starts a process that is none of the tenants until it is taken, where a failed start rejects. */
  startAhead(start: ProcessStart): (role: Role) => Promise<WorkerTenant> {
    const starting = Worker.start({ start, signal: this.#signal });
    this.#ahead.add(starting);
    starting.catch(() => this.#ahead.delete(starting));
    return async (role) => {
      const worker = await starting;
      this.#ahead.delete(starting);
      return this.join(worker, role);
    };
  }

  /** Makes a tenant of a worker that has started. */
  join(worker: Worker, role: Role): WorkerTenant {
    const tenant = new WorkerTenant(role, worker, this.#signal);
    this.#tenants.push(tenant);
    return tenant;
  }

  /** Starts any program. */
  startCommand(command: readonly string[], start: ProcessStart, role: Role): CommandTenant {
    this.#signal.throwIfAborted();
    const tenant = new CommandTenant(role, command, start);
    this.#tenants.push(tenant);
    return tenant;
  }

  /**
   * Gives each worker its task with a start time (`startAtNs`, by its own clock); resolves in the order of `tasks`. A
   * failure or death does not discard the other answers. `leads`: multiple of the usual time before the release.
   */
  async release<T>(tasks: ReadonlyMap<WorkerTenant, Task>, deadlineMs: number, leads = 1) {
    const startAtNs = loadAddon().now() + leads * (LEAD_NS + tasks.size * LEAD_PER_TENANT_NS);
    const asked = [...tasks].map(([tenant, { method, params }]) =>
      tenant.request<T>({ method, params: { ...params, startAtNs: tenant.worker.theirsNs(startAtNs) } }, deadlineMs),
    );
    const outcomes = await Promise.allSettled(asked);
    this.#signal.throwIfAborted();
    return { startAtNs, outcomes };
  }

  /** The answers of `release`. Rejects with the first failure, once all have answered. */
  async releaseAll<T>(tasks: ReadonlyMap<WorkerTenant, Task>, deadlineMs: number, leads = 1): Promise<T[]> {
    const { outcomes } = await this.release<T>(tasks, deadlineMs, leads);
    return outcomes.map((outcome) => {
      if (outcome.status === 'rejected') throw outcome.reason;
      return outcome.value;
    });
  }

  /** Gives all workers the same task and one release. Rejects with the first failure. */
  together<T>(task: Task, deadlineMs: number): Promise<T[]> {
    return this.releaseAll<T>(new Map(this.workers.map((tenant) => [tenant, task])), deadlineMs);
  }

  /** Gives all workers the same task without a common start. Rejects with the first failure. */
  each<T>(task: Task, deadlineMs: number): Promise<T[]> {
    return Promise.all(this.workers.map((tenant) => tenant.request<T>(task, deadlineMs)));
  }

  async stop(): Promise<void> {
    const unused = await Promise.allSettled(this.#ahead);
    const workers = unused.flatMap((start) => (start.status === 'fulfilled' ? start.value : []));
    await Promise.all([...workers, ...this.#tenants.splice(0)].map((one) => one.stop()));
  }
}
