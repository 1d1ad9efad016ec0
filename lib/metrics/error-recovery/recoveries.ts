/** A tenant whose process ends badly, and the processes that are started in its place until one works. */
import { messageOf } from '../../errors/message-of.js';
import type { ContextReset } from '../../native/addon-types.js';
import { loadAddon } from '../../native/load.js';
import type { Tenant } from '../../systems/system.js';
import type { WorkerStart } from '../../workers/start-up.js';
import { WorkerEnded } from '../../workers/worker.js';
import type { WorkerTenant } from '../../workers/worker-tenant.js';
import { hoard } from '../isolation/shared/faults.js';
import { mostBytesOf, xidsFromNow } from '../isolation/shared/outside.js';
import type { MeasureContext } from '../core/metric.js';
import { type MetricScene, targetOf } from '../tenants/scene.js';
import { NS_PER_MS } from '../core/units.js';
import type { Crash } from './crashes.js';

/** Timeout of a start that no error precedes. */
const START_MS = 120_000;

/** Times are ns of our clock. */
export interface Started {
  /** Just before its process was spawned. */
  spawnedAtNs: number;
  firstResultAtNs: number;
  spawnToMainNs: number;
  start: WorkerStart;
  /** How much memory it was then granted. */
  grantedBytes: number;
}

export interface Recovery {
  crash: Crash;
  /** What the process or its parent was told; null: nothing. */
  what: string | null;
  /** When it was told. */
  atNs: number;
  /** When its end was seen. */
  endedAtNs: number;
  /** Null: none worked within the time limit. */
  successor: Started | null;
  /** Why processes before it did not work. */
  refusals: string[];
  /** How many of those ended, by themselves or killed from outside. */
  deaths: number;
  xids: number[] | null;
}

/** In the same process, by a reset of its primary context. */
export interface Reset {
  /** Null if the process did not survive it. */
  answer: ContextReset | null;
  /** Why it did not work; null: it did. */
  reason: string | null;
  xids: number[] | null;
}

const now = (): number => loadAddon().now();

export class RecoveringTenant {
  readonly #context: MeasureContext;
  readonly #scene: MetricScene;
  readonly #tenant: Tenant;
  readonly #patienceMs: number;
  readonly #random: () => number;

  constructor(
    context: MeasureContext,
    scene: MetricScene,
    { tenant, patienceMs, random }: { tenant: Tenant; patienceMs: number; random: () => number },
  ) {
    this.#context = context;
    this.#scene = scene;
    this.#tenant = tenant;
    this.#patienceMs = patienceMs;
    this.#random = random;
  }

  /** A process that no error precedes. */
  async start(): Promise<Started> {
    return this.#examine(await this.#firstResult(START_MS));
  }

  async crash(crash: Crash): Promise<Recovery> {
    const victim = await this.#scene.enter(this.#tenant, 'aggressor');
    // Afterwards nothing more can be seen of it.
    await this.#scene.prove(victim);
    const xidsSeen = await xidsFromNow(this.#context);
    const { what, atNs } = await crash.happen(victim, this.#random);
    const endedAtNs = now();
    const refused: unknown[] = [];
    const successor = await this.#startUntilOneWorks(atNs + this.#patienceMs * NS_PER_MS, refused);
    const deaths = refused.filter((error) => error instanceof WorkerEnded).length;
    const xids = await xidsSeen(crash.hasXid);
    return { crash, what, atNs, endedAtNs, successor, refusals: refused.map(messageOf), deaths, xids };
  }

  /** A kernel fails and its process tries to go on. */
  async reset(): Promise<Reset> {
    const xidsSeen = await xidsFromNow(this.#context);
    const tried = await this.#tryReset();
    return { ...tried, xids: await xidsSeen(true) };
  }

  async #tryReset(): Promise<Omit<Reset, 'xids'>> {
    const worker = await this.#scene.startWorker(this.#tenant, 'aggressor');
    try {
      const task = { method: 'contextReset', params: worker.worker.targetIn(targetOf(this.#context)) };
      const answer = await worker.request<ContextReset>(task, this.#patienceMs);
      const reason = whyNot(answer);
      if (reason === null) await this.#scene.prove(worker);
      else this.#scene.excuse(worker);
      return { answer, reason };
    } catch (error) {
      this.#context.signal.throwIfAborted();
      this.#scene.excuse(worker);
      return { answer: null, reason: messageOf(error) };
    } finally {
      await worker.stop();
    }
  }

  async #startUntilOneWorks(untilNs: number, refused: unknown[]): Promise<Started | null> {
    for (;;) {
      const leftMs = (untilNs - now()) / NS_PER_MS;
      if (leftMs <= 0) return null;
      let working: Working;
      try {
        working = await this.#firstResult(leftMs);
      } catch (error) {
        this.#context.signal.throwIfAborted();
        refused.push(error);
        continue;
      }
      return this.#examine(working);
    }
  }

  async #firstResult(withinMs: number): Promise<Working> {
    const spawnedAtNs = now();
    const worker = await this.#scene.startWorker(this.#tenant);
    const params = {
      ...targetOf(this.#context),
      contextApi: 'cuDevicePrimaryCtxRetain',
      recreations: 0,
      startAtNs: null,
      keep: true,
    };
    try {
      const task = { method: 'startUp', params: worker.worker.targetIn(params) };
      const start = await worker.request<WorkerStart>(task, Math.max(1, withinMs));
      return { worker, spawnedAtNs, start };
    } catch (error) {
      // It gives no number.
      this.#scene.excuse(worker);
      await worker.stop();
      throw error;
    }
  }

  /** Proves the process and fills its memory, which is not timed; then it ends. */
  async #examine({ worker, spawnedAtNs, start }: Working): Promise<Started> {
    try {
      await this.#scene.hold(worker, this.#context.options.device);
      await this.#scene.prove(worker);
      const { bytes } = await hoard(worker, await mostBytesOf(this.#context, this.#tenant.id));
      const { spawnToMainNs } = worker.worker.timing;
      const firstResultAtNs = worker.worker.oursNs(start.firstResultAtNs);
      return { spawnedAtNs, firstResultAtNs, spawnToMainNs, start, grantedBytes: bytes };
    } finally {
      await worker.stop();
    }
  }
}

/** A process whose first kernel ran. */
interface Working {
  worker: WorkerTenant;
  spawnedAtNs: number;
  start: WorkerStart;
}

function whyNot({ failed, resultCorrect }: ContextReset): string | null {
  if (failed !== '') return failed;
  return resultCorrect ? null : 'the next kernel had wrong results';
}
