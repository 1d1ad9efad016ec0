/**
 * Several workers that measure at the same time: each holds a session on the device, all are released at one absolute
 * time, and what counts is the window in which every one of them was at work.
 */
import type { DeviceTarget } from '../native/addon-types.js';
import { loadAddon } from '../native/load.js';
import { ownSignal } from './own-signal.js';
import { Worker } from './worker.js';

/** How one of them starts. */
export interface TenantProcess {
  environment: NodeJS.ProcessEnv;
  argvPrefix?: readonly string[];
}

/** Who owns the function that a tenant made its context with. */
export interface TenantContext {
  function: string;
  owner: string | null;
}

const ENTER_DEADLINE_MS = 120_000;
/** From the request to the release: enough for the request to reach every worker of a machine that is not busy. */
const LEAD_NS = 20_000_000;
const LEAD_PER_TENANT_NS = 5_000_000;

export class Tenants {
  readonly #workers: Worker[] = [];
  readonly #contexts: TenantContext[] = [];
  readonly #target: DeviceTarget;
  readonly #signal: AbortSignal;

  constructor(target: DeviceTarget, signal: AbortSignal) {
    this.#target = target;
    this.#signal = ownSignal(signal);
  }

  get size(): number {
    return this.#workers.length;
  }

  /** One of each that entered. */
  get contexts(): readonly TenantContext[] {
    return this.#contexts;
  }

  /** Starts one more: it holds a session on the device when this resolves. */
  async add(process: TenantProcess): Promise<void> {
    const worker = await this.#start(process);
    const options = { deadlineMs: ENTER_DEADLINE_MS, signal: this.#signal };
    const { context } = (await worker.request('enter', this.#target, options)) as { context: TenantContext };
    this.#contexts.push(context);
  }

  /** Starts one more that has made no driver call yet. */
  async addFresh(process: TenantProcess): Promise<void> {
    await this.#start(process);
  }

  /** Asks all of them for the same, with a time to begin at (`startAtNs`); answers in the order they were added. */
  together<T>(method: string, params: object, deadlineMs: number): Promise<T[]> {
    return this.each<T>(method, { ...params, startAtNs: this.#release() }, deadlineMs);
  }

  /** As `together`, but a failure does not discard the other answers. `leads`: how many times as long before the release. */
  async togetherSettled<T>(method: string, params: object, deadlineMs: number, leads = 1) {
    const startAtNs = this.#release(leads);
    const options = { deadlineMs, signal: this.#signal };
    const outcomes = await Promise.allSettled(
      this.#workers.map((worker) => worker.request(method, { ...params, startAtNs }, options) as Promise<T>),
    );
    this.#signal.throwIfAborted();
    return { startAtNs, outcomes };
  }

  /** Asks all of them for the same, each beginning when the request reaches it. */
  each<T>(method: string, params: object, deadlineMs: number): Promise<T[]> {
    const options = { deadlineMs, signal: this.#signal };
    return Promise.all(this.#workers.map((worker) => worker.request(method, params, options) as Promise<T>));
  }

  /** In the order they were added. */
  get workers(): readonly Worker[] {
    return this.#workers;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#workers.splice(0).map((worker) => worker.stop()));
  }

  async #start({ environment, argvPrefix }: TenantProcess): Promise<Worker> {
    const worker = await Worker.start({ environment, ...(argvPrefix && { argvPrefix }), signal: this.#signal });
    this.#workers.push(worker);
    return worker;
  }

  #release(leads = 1): number {
    return loadAddon().now() + leads * (LEAD_NS + this.size * LEAD_PER_TENANT_NS);
  }
}
