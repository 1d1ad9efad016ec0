/** A process that cleans up after a run when its own stdin closes, which happens however the run ends. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { BenchError } from '../../errors/bench-error.js';
import { BoundedLog, LineSplitter } from '../../workers/lines.js';
import { Questions } from '../../workers/questions.js';
import { withStreams } from '../../workers/with-streams.js';

/** Removing many things at once. */
const CLEAN_UP_MS = 60_000;

interface GuardianRequest {
  /** Path of its compiled program. */
  program: string;
  argv: readonly string[];
  environment: Readonly<Record<string, string>>;
  /** What it removes, e.g. `containers`. */
  what: string;
}

/** `Reply`: what it answers to questions, if it takes any. */
export class CleanUpGuardian<Reply extends { id: number } = never> {
  readonly #child: ChildProcess;
  readonly #log = new BoundedLog();
  readonly #what: string;
  readonly #questions: Questions<Reply>;

  constructor({ program, argv, environment, what }: GuardianRequest) {
    this.#what = what;
    // A group of its own: Ctrl-C is the run's to handle.
    const child = withStreams(
      spawn(process.execPath, [program, ...argv], {
        env: environment,
        stdio: 'pipe',
        detached: true,
      }),
    );
    child.stderr.on('data', (chunk: Buffer) => this.#log.append(chunk.toString()));
    child.stdin.on('error', () => {});
    this.#questions = new Questions((line) => child.stdin.write(line));
    const replies = new LineSplitter((line) => this.#questions.answer(line));
    child.stdout.on('data', (chunk: Buffer) => replies.push(chunk));
    child.once('exit', () => this.#questions.end(new BenchError('SYSTEM', `${this.#early}.`)));
    child.on('error', (error) => this.#log.append(error.message));
    this.#child = child;
  }

  /** Tells it a line. */
  note(line: string): void {
    this.#child.stdin?.write(`${line}\n`);
  }

  /** Asks it; rejects if it has ended. */
  protected async ask(question: object): Promise<Reply> {
    if (this.#hasEnded) throw new BenchError('SYSTEM', `${this.#early}.`);
    return this.#questions.ask(question);
  }

  /** Why it has ended before its time; null: it runs. */
  get failure(): string | null {
    return this.#hasEnded ? this.#early : null;
  }

  get #hasEnded(): boolean {
    const { pid, exitCode, signalCode } = this.#child;
    return pid === undefined || exitCode !== null || signalCode !== null;
  }

  get #early(): string {
    const { exitCode, signalCode } = this.#child;
    return `its guardian ended early: ${this.#log.lastLines(1)[0] ?? signalCode ?? `exit code ${exitCode}`}`;
  }

  /** Answers what could not be removed. */
  async end(): Promise<string[]> {
    const { pid } = this.#child;
    if (this.#hasEnded) return [this.#early];
    const ended = once(this.#child, 'exit');
    this.#child.stdin?.end();
    const late = new AbortController();
    const code = await Promise.race([
      ended.then(([exit]) => exit as number | null),
      sleep(CLEAN_UP_MS, undefined, { signal: late.signal }).catch(() => undefined),
    ]);
    late.abort();
    if (code === undefined) return [`process ${pid} is still removing its ${this.#what}`];
    return code === 0 ? [] : [this.#log.lastLines(1)[0] ?? `its guardian ended with exit code ${code}`];
  }
}
