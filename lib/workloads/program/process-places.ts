/** On which MIG instance or card NVML listed each process, by looks at all of them at an interval. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Target } from '../../native/addon-types.js';
import { loadAddon } from '../../native/load.js';

export class ProcessPlaces {
  readonly #places = new Map<number, Set<string>>();
  readonly #over = new AbortController();
  readonly #looking: Promise<void>;
  #looks = 0;

  constructor(target: Target, intervalMs: number) {
    this.#looking = this.#look(target, intervalMs);
  }

  /** How many looks NVML has answered. */
  get looks(): number {
    return this.#looks;
  }

  /** UUIDs of where a process was listed so far. */
  of(pid: number): ReadonlySet<string> {
    return this.#places.get(pid) ?? new Set();
  }

  async stop(): Promise<void> {
    this.#over.abort();
    await this.#looking;
  }

  /** Ends with the first look that fails: what was seen until then is kept. */
  async #look({ simulatedDriver }: Target, intervalMs: number): Promise<void> {
    const { signal } = this.#over;
    try {
      while (!signal.aborted) {
        for (const { uuid, processes } of await loadAddon().processesByPlace({ simulatedDriver }))
          for (const { pid } of processes ?? []) this.#places.set(pid, (this.#places.get(pid) ?? new Set()).add(uuid));
        this.#looks++;
        await sleep(intervalMs, undefined, { signal });
      }
    } catch {
      return;
    }
  }
}
