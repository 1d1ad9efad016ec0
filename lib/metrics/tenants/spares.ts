/**
 * Worker processes that have started and made no driver call, for the tenants that enter next. They start while others end,
 * because the driver needs as long for an end as Node for a start.
 */
import type { ProcessStart } from '../../workers/launcher.js';
import { local } from '../../workers/local.js';
import { Worker } from '../../workers/worker.js';

/** Scenes mostly have no more tenants. */
const MOST = 8;

/** Null: none is kept. A preloaded layer acts when it is loaded, so that a spare process could count as a tenant. */
function keyOf({ launcher, environment, argvPrefix }: ProcessStart): string | null {
  if (launcher !== local || argvPrefix.length > 0 || environment.LD_PRELOAD) return null;
  return JSON.stringify(Object.entries(environment).sort(([a], [b]) => (a < b ? -1 : 1)));
}

export class Spares {
  readonly #signal: AbortSignal;
  readonly #waiting: { key: string; worker: Worker }[] = [];
  /** Whether more tenants are to come. The caller says so, and before that none is started. */
  areNeeded = false;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** One that started with the same environment; null if there is none. */
  take(start: ProcessStart): Worker | null {
    const key = keyOf(start);
    for (;;) {
      const index = this.#waiting.findIndex((spare) => spare.key === key);
      const [spare] = index < 0 ? [] : this.#waiting.splice(index, 1);
      if (!spare) return null;
      if (spare.worker.alive) return spare.worker;
    }
  }

  /**
   * Resolves when there is one for each of these starts, at most eight in all. One that does not start is left out: the
   * tenant that needs it says why.
   */
  async fill(starts: readonly ProcessStart[]): Promise<void> {
    if (!this.areNeeded || this.#signal.aborted) return;
    const unused = [...this.#waiting];
    const missing = starts.filter((start) => {
      const key = keyOf(start);
      const index = unused.findIndex((spare) => spare.key === key);
      if (index >= 0) unused.splice(index, 1);
      return key !== null && index < 0;
    });
    const room = Math.max(0, MOST - this.#waiting.length);
    await Promise.all(
      missing.slice(0, room).map(async (start) => {
        const worker = await Worker.start({ start, signal: this.#signal }).catch(() => null);
        if (worker) this.#waiting.push({ key: keyOf(start) as string, worker });
      }),
    );
  }

  /** Ends all of them. */
  async close(): Promise<void> {
    this.areNeeded = false;
    await Promise.all(this.#waiting.splice(0).map(({ worker }) => worker.stop()));
  }
}
