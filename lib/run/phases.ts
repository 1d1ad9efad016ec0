/** Phases of a program: what was counted between their beginnings and ends, and the marks in its output that name them. */
import type { Phase } from '../results/call-profile.js';

/** All calls until then. */
export interface Snapshot {
  atMs: number;
  calls: ReadonlyMap<string, number>;
}

interface Counted {
  seconds: number;
  /** Null as soon as one end does not say. */
  steps: number | null;
  calls: Map<string, number>;
}

/** One at a time; a phase that comes again adds to what it had. */
export class Phases {
  readonly #counted = new Map<string, Counted>();
  #open: { name: string; since: Snapshot } | null = null;

  get open(): string | null {
    return this.#open?.name ?? null;
  }

  begin(name: string, at: Snapshot): void {
    if (this.#open) this.end(null, at);
    this.#open = { name, since: at };
  }

  end(steps: number | null, at: Snapshot): void {
    if (!this.#open) return;
    const { name, since } = this.#open;
    this.#open = null;
    const before = this.#counted.get(name) ?? { seconds: 0, steps: 0, calls: new Map<string, number>() };
    const calls = new Map(before.calls);
    for (const [call, count] of at.calls) {
      const more = count - (since.calls.get(call) ?? 0);
      if (more > 0) calls.set(call, (calls.get(call) ?? 0) + more);
    }
    this.#counted.set(name, {
      seconds: before.seconds + (at.atMs - since.atMs) / 1_000,
      steps: steps === null || before.steps === null ? null : before.steps + steps,
      calls,
    });
  }

  /** In the order in which they first ended; of each its calls, most frequent first. */
  get all(): Phase[] {
    return [...this.#counted].map(([name, { seconds, steps, calls }]) => ({
      name,
      // Read by people too: no clock here resolves less.
      seconds: Math.round(seconds * 1e6) / 1e6,
      steps,
      calls: Object.fromEntries([...calls].sort(([a, x], [b, y]) => y - x || a.localeCompare(b))),
    }));
  }
}

export type Mark = { begins: string } | { ends: true; steps: number | null } | { wrong: string };

const PREFIX = 'gvb:';
const LONGEST_NAME = 100;

/** `gvb:begin NAME`, `gvb:end`, `gvb:end STEPS`; null of every other line. */
export function markIn(line: string): Mark | null {
  if (!line.startsWith(PREFIX)) return null;
  const [verb, ...rest] = line.slice(PREFIX.length).trim().split(/\s+/);
  const argument = rest.join(' ');
  if (verb === 'begin' && argument !== '' && argument.length <= LONGEST_NAME) return { begins: argument };
  if (verb === 'end' && argument === '') return { ends: true, steps: null };
  const steps = /^\d+$/.test(argument) ? Number(argument) : 0;
  if (verb === 'end' && steps >= 1 && Number.isSafeInteger(steps)) return { ends: true, steps };
  return { wrong: line.slice(0, LONGEST_NAME) };
}
