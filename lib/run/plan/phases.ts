/**
 * Phases of a program: the calls counted between their starts and ends, and the marks in its output that name them.
 */
import type { Phase } from '../../results/call-profile.js';

/** Numbers of all calls up to a time. */
export interface Snapshot {
  atMs: number;
  calls: ReadonlyMap<string, number>;
}

interface Counted {
  seconds: number;
  /** Steps of all occurrences; null once any of them does not give its steps. */
  steps: number | null;
  calls: Map<string, number>;
}

interface EndOfPhase {
  steps: number | null;
  seconds: number | null;
}

/** Counts calls by phase, one phase at a time. A repeated phase adds to its earlier counts. */
export class Phases {
  readonly #counted = new Map<string, Counted>();
  #open: { name: string; since: Snapshot } | null = null;

  get open(): string | null {
    return this.#open?.name ?? null;
  }

  begin(name: string, at: Snapshot): void {
    if (this.#open) this.end({ steps: null, seconds: null }, at);
    this.#open = { name, since: at };
  }

  /**
   * Ends the open phase. `seconds` is given if the program measured the phase itself, more exactly than the times at
   * which its marks were read.
   */
  end({ steps, seconds }: EndOfPhase, at: Snapshot): void {
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
      seconds: before.seconds + (seconds ?? (at.atMs - since.atMs) / 1_000),
      steps: steps === null || before.steps === null ? null : before.steps + steps,
      calls,
    });
  }

  /** Phases in the order in which they first ended, with their calls by descending frequency. */
  get all(): Phase[] {
    return [...this.#counted].map(([name, { seconds, steps, calls }]) => ({
      name,
      // Rounded for readers; no clock here resolves less.
      seconds: Math.round(seconds * 1e6) / 1e6,
      steps,
      calls: Object.fromEntries([...calls].sort(([a, x], [b, y]) => y - x || a.localeCompare(b))),
    }));
  }
}

type Mark = { begins: string } | { ends: EndOfPhase } | { wrong: string };

export const MARKS = 'gvb:begin NAME, gvb:end, gvb:end STEPS or gvb:end STEPS SECONDS';
const PREFIX = 'gvb:';
const LONGEST_NAME = 100;

/** Reads one of `MARKS`; null for every other line. */
export function markIn(line: string): Mark | null {
  if (!line.startsWith(PREFIX)) return null;
  const [verb, ...rest] = line.slice(PREFIX.length).trim().split(/\s+/);
  const name = rest.join(' ');
  if (verb === 'begin' && name !== '' && name.length <= LONGEST_NAME) return { begins: name };
  const ends = verb === 'end' ? endIn(rest) : null;
  return ends ? { ends } : { wrong: line.slice(0, LONGEST_NAME) };
}

function endIn(words: readonly string[]): EndOfPhase | null {
  const [steps, seconds] = words.map((word) => (/^\d+(\.\d+)?$/.test(word) ? Number(word) : NaN));
  if (words.length > 2 || (steps !== undefined && !(Number.isSafeInteger(steps) && steps >= 1))) return null;
  if (seconds !== undefined && !(Number.isFinite(seconds) && seconds > 0)) return null;
  return { steps: steps ?? null, seconds: seconds ?? null };
}
