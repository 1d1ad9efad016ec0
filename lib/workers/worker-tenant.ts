/** A worker as a tenant: it is asked for what it does, and may hold a session on the device meanwhile. */
import type { DeviceTarget } from '../native/addon-types.js';
import { loadAddon } from '../native/load.js';
import type { Ending } from './launcher.js';
import type { Role, TenantHandle } from './tenant-handle.js';
import type { Worker } from './worker.js';

/** Who owns the function that a tenant made its context with. */
export interface TenantContext {
  function: string;
  owner: string | null;
}

/** What a worker is to do: a request that it answers. */
export interface Task {
  method: string;
  params: object;
}

const ENTER_DEADLINE_MS = 120_000;

export class WorkerTenant implements TenantHandle {
  readonly role: Role;
  readonly worker: Worker;
  readonly #signal: AbortSignal;
  /** Null of one that has made no driver call yet. */
  context: TenantContext | null = null;
  /** By how much its clock was at least off ours when it entered. */
  clockOffByNs = 0;

  constructor(role: Role, worker: Worker, signal: AbortSignal) {
    this.role = role;
    this.worker = worker;
    this.#signal = signal;
  }

  get exit(): Promise<Ending> {
    return this.worker.exit;
  }

  /** From here on it holds a session on the device. */
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

  /** Rejects where it fails or dies; its `exit` then says how. */
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
