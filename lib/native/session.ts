/** One exclusive use of the device by one measurement; all native work of a metric goes through it. */
import type { DeviceTarget, GpuState, NativeAddon } from './addon-types.js';
import { fromNative } from './errors.js';
import { loadAddon } from './load.js';

/** NVML is read after a block, but at most this often: a reading takes about a millisecond. */
const HEALTH_EVERY_MS = 100;

/** Functions of the addon that a session calls: their first argument is its number. */
export type SessionCall = {
  [Name in keyof NativeAddon]: Parameters<NativeAddon[Name]> extends [session: number, ...request: unknown[]]
    ? ReturnType<NativeAddon[Name]> extends Promise<unknown>
      ? Name
      : never
    : never;
}[Exclude<keyof NativeAddon, 'closeSession'>];

/** The arguments after the session: a request, or none. */
export type RequestOf<Name extends SessionCall> =
  Parameters<NativeAddon[Name]> extends [number, ...infer Request] ? Request : never;
export type AnswerOf<Name extends SessionCall> = Awaited<ReturnType<NativeAddon[Name]>>;

export class Session {
  /** NVML's readings after blocks, while the device was under load. */
  readonly healthLog: GpuState[] = [];
  #lastHealth = Number.NEGATIVE_INFINITY;
  readonly #addon: NativeAddon;
  readonly #id: number;
  readonly #signal: AbortSignal;
  readonly #onAbort: () => void;

  private constructor(addon: NativeAddon, id: number, signal: AbortSignal) {
    this.#addon = addon;
    this.#id = id;
    this.#signal = signal;
    this.#onAbort = () => addon.cancel(id);
    signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  /**
   * Waits for its turn: measurements of one process run one at a time, across worker_threads too. An abort ends the
   * wait at once; the turn is given back when it comes.
   */
  static open(target: DeviceTarget, signal: AbortSignal): Promise<Session> {
    return Session.#take((addon) => addon.openSession(target), signal);
  }

  /** A turn without the device, for a measurement that other processes make. */
  static turn(signal: AbortSignal): Promise<Session> {
    return Session.#take((addon) => addon.openTurn(), signal);
  }

  static async #take(ask: (addon: NativeAddon) => Promise<number>, signal: AbortSignal): Promise<Session> {
    const addon = loadAddon();
    signal.throwIfAborted();
    const opening = ask(addon);
    try {
      const id = await orAborted(opening, signal);
      signal.throwIfAborted();
      return new Session(addon, id, signal);
    } catch (error) {
      if (signal.aborted)
        opening.then(
          (id) => addon.closeSession(id),
          () => {},
        );
      throw fromNative(error, signal);
    }
  }

  /**
   * Closes the session. After an abort it does not wait for a driver call that may still be running; the turn ends
   * after it.
   */
  async close(): Promise<void> {
    this.#signal.removeEventListener('abort', this.#onAbort);
    const closed = this.#addon.closeSession(this.#id);
    if (this.#signal.aborted) closed.catch(() => {});
    else await closed;
  }

  pairFunctions = () => this.#addon.pairFunctions();

  ask<Name extends SessionCall>(name: Name, ...request: RequestOf<Name>): Promise<AnswerOf<Name>> {
    return this.#run((addon) => {
      // The name determines the types of request and answer, which TypeScript cannot follow through the index.
      const call = addon[name] as (session: number, ...request: unknown[]) => Promise<AnswerOf<Name>>;
      return call(this.#id, ...request);
    });
  }

  /** Like `ask`, for timed work on the device: reads the GPU's state afterwards. */
  async block<Name extends SessionCall>(name: Name, ...request: RequestOf<Name>): Promise<AnswerOf<Name>> {
    const block = await this.ask(name, ...request);
    if (performance.now() - this.#lastHealth > HEALTH_EVERY_MS) {
      this.healthLog.push(await this.ask('health'));
      this.#lastHealth = performance.now();
    }
    return block;
  }

  async #run<T>(task: (addon: NativeAddon) => Promise<T>): Promise<T> {
    this.#signal.throwIfAborted();
    try {
      return await orAborted(task(this.#addon), this.#signal);
    } catch (error) {
      throw fromNative(error, this.#signal);
    }
  }
}

/** Rejects with the signal's reason as soon as it is aborted, whether or not the promise ever settles. */
async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let onAbort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
