/** One exclusive use of the device by one measurement; all native work of a metric goes through it. */
import type {
  AllocationRequest,
  ComputeShareRequest,
  DeviceTarget,
  FreeRequest,
  GpuState,
  LaunchRequest,
  LiveSetRequest,
  NativeAddon,
  PacedLaunchRequest,
  PairRequest,
  WindowRequest,
  WorkRequest,
} from './addon-types.js';
import { fromNative } from './errors.js';
import { loadAddon } from './load.js';

/** NVML is asked after a block, at most this often: the reading itself costs about a millisecond. */
const HEALTH_EVERY_MS = 100;

export class Session {
  /** NVML's readings after blocks, the device under load. */
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
   * waiting at once; the turn, when it comes, is given back.
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

  /** After an abort it does not wait for a driver call that may still be running; the turn is given back behind it. */
  async close(): Promise<void> {
    this.#signal.removeEventListener('abort', this.#onAbort);
    const closed = this.#addon.closeSession(this.#id);
    if (this.#signal.aborted) closed.catch(() => {});
    else await closed;
  }

  probeLayer = (request: { allocations: number[] }) => this.#run((a) => a.probeLayer(this.#id, request));
  health = () => this.#run((a) => a.health(this.#id));
  scheduling = () => this.#run((a) => a.scheduling(this.#id));
  visibleMemory = () => this.#run((a) => a.visibleMemory(this.#id));
  computeShare = (request: ComputeShareRequest) => this.#block((a) => a.computeShare(this.#id, request));
  work = (request: WorkRequest) => this.#block((a) => a.work(this.#id, request));
  window = (request: WindowRequest) => this.#run((a) => a.window(this.#id, request));
  launchBlock = (request: LaunchRequest) => this.#block((a) => a.launchBlock(this.#id, request));
  allocationBlock = (request: AllocationRequest) => this.#block((a) => a.allocationBlock(this.#id, request));
  freeBlock = (request: FreeRequest) => this.#block((a) => a.freeBlock(this.#id, request));
  liveSets = (request: LiveSetRequest) => this.#block((a) => a.liveSets(this.#id, request));
  pacedLaunches = (request: PacedLaunchRequest) => this.#block((a) => a.pacedLaunches(this.#id, request));
  doubleFree = () => this.#run((a) => a.doubleFree(this.#id));
  pairFunctions = () => this.#addon.pairFunctions();
  pairBlock = (request: PairRequest) => this.#block((a) => a.pairBlock(this.#id, request));

  async #block<T>(task: (addon: NativeAddon) => Promise<T>): Promise<T> {
    const block = await this.#run(task);
    if (performance.now() - this.#lastHealth > HEALTH_EVERY_MS) {
      this.healthLog.push(await this.health());
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
