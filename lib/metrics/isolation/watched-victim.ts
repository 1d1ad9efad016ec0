/** A tenant that works continuously while its neighbours fail, and the effects that it observed. */
import { messageOf } from '../../errors/message-of.js';
import { askSession } from '../../workers/session-task.js';
import { WorkerEnded } from '../../workers/worker.js';
import type { WorkerTenant } from '../../workers/worker-tenant.js';

/** A victim without a verified result for longer than this was harmed. */
export const STALL_MS = 2_000;
/** After this time a victim counts as stuck, and its process is killed. */
const STUCK_MS = 10_000;
/** Length of one request, and thus the longest delay before it is known that the victim continues. */
const SLICE_MS = 20;
const BLOCK_BYTES = 2 ** 20;

interface Slice {
  beganNs: number;
  endedNs: number;
  rounds: number;
  wrong: number;
  /** Longest time without a verified round, from the end of the previous slice. */
  gapNs: number;
}

/** What the victim observed in a time range. */
export interface Noticed {
  rounds: number;
  wrong: number;
  longestStallMs: number;
  /** Why it stalled; null if it did not. */
  error: string | null;
}

export class WatchedVictim {
  readonly tenant: WorkerTenant;
  readonly #now: () => number;
  readonly #slices: Slice[] = [];
  #error: unknown = null;
  #stopping = false;
  #done: Promise<void> = Promise.resolve();
  #onSlice: (() => void)[] = [];

  /** `now`: the coordinator's clock, in ns. */
  constructor(tenant: WorkerTenant, now: () => number) {
    this.tenant = tenant;
    this.#now = now;
  }

  /** Resolves when the first rounds were verified; rejects if they cannot be. */
  async start(): Promise<void> {
    await this.#slice(this.#now());
    this.#done = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#done;
  }

  get alive(): boolean {
    return this.#error === null;
  }

  /** Why it stopped; null if it did not. */
  get error(): string | null {
    return this.alive ? null : messageOf(this.#error);
  }

  /** Whether its process ended. */
  get died(): boolean {
    return this.#error instanceof WorkerEnded;
  }

  /** Whether rounds that begin from now on are verified within that time. */
  async goesOn(withinMs: number): Promise<boolean> {
    const from = this.#now();
    const until = from + withinMs * 1e6;
    const verified = () => this.#slices.some(({ beganNs, rounds }) => beganNs >= from && rounds > 0);
    while (this.alive && !verified()) {
      const left = (until - this.#now()) / 1e6;
      if (left <= 0) break;
      await this.#nextSlice(left);
    }
    return verified();
  }

  noticed(fromNs: number, toNs: number): Noticed {
    const slices = this.#slices.filter(({ beganNs, endedNs }) => endedNs >= fromNs && beganNs <= toNs);
    const last = this.#slices.at(-1)?.endedNs ?? fromNs;
    // Still open: the current wait.
    const open = Math.max(0, toNs - Math.max(last, fromNs));
    const sum = (of: (slice: Slice) => number) => slices.reduce((all, slice) => all + of(slice), 0);
    return {
      rounds: sum(({ rounds }) => rounds),
      wrong: sum(({ wrong }) => wrong),
      longestStallMs: Math.max(open, ...slices.map(({ gapNs }) => gapNs)) / 1e6,
      error: this.error,
    };
  }

  async #run(): Promise<void> {
    try {
      while (!this.#stopping) await this.#slice(this.#slices.at(-1)?.endedNs ?? this.#now());
    } catch (error) {
      this.#error = error;
    }
    for (const told of this.#onSlice.splice(0)) told();
  }

  async #slice(lastNs: number): Promise<void> {
    const request = { bytes: BLOCK_BYTES, forMs: SLICE_MS };
    const done = await askSession(this.tenant, { name: 'verifiedRounds', request, deadlineMs: STUCK_MS });
    const { worker } = this.tenant;
    const [beganNs, endedNs] = [worker.oursNs(done.beganNs), worker.oursNs(done.endedNs)];
    const gapNs = done.longestGapNs + Math.max(0, beganNs - lastNs);
    this.#slices.push({ beganNs, endedNs, rounds: done.rounds, wrong: done.wrong, gapNs });
    for (const told of this.#onSlice.splice(0)) told();
  }

  #nextSlice(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, withinMs);
      this.#onSlice.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}
