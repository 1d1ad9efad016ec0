/** A worker as a tenant: it answers requests, and may hold a session on the device meanwhile. */
import type { DeviceTarget } from '../native/addon-types.js';
import { loadAddon } from '../native/load.js';
import type { Ending } from './launcher.js';
import type { Role, TenantHandle } from './tenant-handle.js';
import type { Worker } from './worker.js';

/** The owner of the function with which a tenant created its context. */
export interface TenantContext {
  function: string;
  owner: string | null;
}

/** A request for a worker. */
export interface Task {
  method: string;
  params: object | undefined;
}

const ENTER_DEADLINE_MS = 120_000;

export class WorkerTenant implements TenantHandle {
  readonly role: Role;
  readonly worker: Worker;
  readonly #signal: AbortSignal;
  /** Null until it makes its first driver call. */
  context: TenantContext | null = null;
  /** Lower bound on the difference between its clock and ours when it entered. */
  clockOffByNs = 0;

  constructor(role: Role, worker: Worker, signal: AbortSignal) {
    this.role = role;
    this.worker = worker;
    this.#signal = signal;
  }

  get exit(): Promise<Ending> {
    return this.worker.exit;
  }

  /** Makes the worker hold a session on the device from now on. */
  async enter(target: DeviceTarget): Promise<void> {
    const { context } = await this.request<{ context: TenantContext }>(
      { method: 'enter', params: this.worker.targetIn(target) },
      ENTER_DEADLINE_MS,
    );
    this.context = context;
    this.clockOffByNs = await this.#clockOffByNs();
  }

  async #clockOffByNs(): Promise<number> {
    const beforeNs = loadAddon().now();
    const { nowNs } = await this.request<{ nowNs: number }>({ method: 'clock', params: {} }, ENTER_DEADLINE_MS);
    const said = this.worker.oursNs(nowNs);
    return Math.max(0, beforeNs - said, said - loadAddon().now());
  }

  /** Rejects if it fails or dies; `exit` then says how. */
  request<T>({ method, params }: Task, deadlineMs: number): Promise<T> {
    return this.worker.request(method, params, { deadlineMs, signal: this.#signal }) as Promise<T>;
  }

  signal(name: NodeJS.Signals): void {
    this.worker.signal(name);
  }

  stop(): Promise<void> {
    return this.worker.stop();
  }
}
