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

  /** A look that fails is not counted, and the next one may succeed. */
  async #look({ simulatedDriver }: Target, intervalMs: number): Promise<void> {
    const { signal } = this.#over;
    while (!signal.aborted) {
      const listed = await loadAddon()
        .processesByPlace({ simulatedDriver })
        .catch(() => null);
      for (const { uuid, processes } of listed ?? [])
        for (const { pid } of processes ?? []) this.#places.set(pid, (this.#places.get(pid) ?? new Set()).add(uuid));
      if (listed) this.#looks++;
      await sleep(intervalMs, undefined, { signal }).catch(() => {});
    }
  }
}
