/**
 * A user's program at the user's terminal, under gvb-keeper like any other: it has the terminal's input and output, and
 * receives its signals. Nothing that it started outlives it, or this process.
 */
import { fstatSync } from 'node:fs';
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { GRACE_MS, Kept, type MainEnding, type Outcome, startKeeper, STRAGGLER_MS } from './kept-program.js';

interface ForegroundRequest {
  command: readonly string[];
  environment: NodeJS.ProcessEnv;
  /** Path of gvb-keeper. */
  keeper: string;
  /** Whether the program's standard output is piped to us first. */
  isRead: boolean;
}

export interface ForegroundEnding {
  /** `exit code 3`, `SIGKILL`. */
  how: string;
  /** The exit code that a shell reports. */
  code: number;
  /** What it left running, which was ended. */
  left: Outcome['left'];
}

/**
 * Node makes the pipes that it writes to non-blocking, also for programs that share them: one that does not expect it
 * fails at the first full pipe. For the same reason nothing here may access `process.stdin`.
 */
function isPipe(descriptor: number): boolean {
  try {
    const found = fstatSync(descriptor);
    return found.isFIFO() || found.isSocket();
  } catch {
    // The descriptor is closed, also for the program.
    return false;
  }
}

/** A program that stays in our process group. */
export class ForegroundProgram extends Kept {
  /** Standard output of the program, which `forward` passes on to ours; null if the program writes to ours itself. */
  readonly stdout: Readable | null;
  readonly #stderr: Readable | null;
  /** Null while it runs. */
  #main: MainEnding | null = null;

  constructor({ command, environment, keeper, isRead }: ForegroundRequest) {
    const options = { keeper, environment, cwd: process.cwd(), stragglerMs: STRAGGLER_MS, graceMs: GRACE_MS };
    const outputs = [isRead || isPipe(1) ? 'pipe' : 'inherit', isPipe(2) ? 'pipe' : 'inherit'] as const;
    const child = startKeeper(command, options, ['inherit', ...outputs, 'pipe', 'pipe'], ['--foreground']);
    const [reports, control] = child.stdio.slice(3) as [Readable, Writable];
    super(child, { control, reports }, options);
    [this.stdout, this.#stderr] = [child.stdout, child.stderr];
    void this.mainEnded.then((main) => (this.#main = main));
  }

  /** Passes its output on. Until then it waits, so that a reader of `stdout` misses nothing. */
  forward(): void {
    this.stdout?.pipe(process.stdout, { end: false });
    this.#stderr?.pipe(process.stderr, { end: false });
  }

  /** When nothing of it is left, and all output was read. */
  async ended(): Promise<ForegroundEnding> {
    const { main, left } = await this.done;
    if (main === null)
      return { how: 'SIGKILL, as gvb-keeper, which started it, did', code: 128 + constants.signals.SIGKILL, left };
    if (main.exitCode !== null) return { how: `exit code ${main.exitCode}`, code: main.exitCode, left };
    return { how: signalName(main.signal ?? 0), code: 128 + (main.signal ?? 0), left };
  }

  /** Sends a signal to the program's first process. */
  async signal(name: NodeJS.Signals): Promise<void> {
    const begun = await this.begun;
    if (begun === null || this.#main !== null) return;
    try {
      process.kill(begun.pid, name);
    } catch {
      // It has just ended.
    }
  }
}

/** Real-time signals have no name. */
const signalName = (number: number): string =>
  Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? `signal ${number}`;
