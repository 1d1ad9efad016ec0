/**
 * A user's program in a container of podman that can be checkpointed. No client stays with it: conmon keeps it and writes its
 * output to a file, also after a restore. Times are of CLOCK_MONOTONIC in nanoseconds.
 */
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasEnded, processesBelow } from '../../environment/process-tree.js';
import { messageOf } from '../../errors/message-of.js';
import { GRACE_MS, type MainEnding, type Outcome } from '../kept-program.js';
import type { Ask, Container } from './container.js';
import { ContainerLog } from './container-log.js';

/** What a request about a container came to. */
export interface Kept {
  /** Why it failed; null: it did not. */
  failure: string | null;
  fromNs: number;
  toNs: number;
}

/** Who checkpoints, restores and removes containers: a process that outlives the run. */
export interface Keeping {
  checkpoint: (name: string) => Promise<Kept>;
  /** From then on the container is only ended by another checkpoint. */
  restore: (name: string) => Promise<Kept>;
  remove: (name: string) => Promise<Kept>;
}

interface Boxed {
  container: Container;
  /** File of its output. */
  log: string;
  /** Starts it, and ends when it runs. */
  start: () => ReturnType<Ask>;
  ask: Ask;
  keeping: Keeping;
}

/** Interval of looks at its log and its first process. */
const LOOK_MS = 5;
/** How long podman may take to note an end. */
const NOTED_MS = 10_000;
const SIGKILL = 9;

const nowNs = (): number => Number(process.hrtime.bigint());

export class ContainerProgram {
  readonly stdout = new PassThrough();
  readonly stderr = new PassThrough();
  readonly begun: Promise<{ atNs: number }>;
  /** When its first process has ended for good, or nothing started. */
  readonly mainEnded: Promise<MainEnding | null>;
  /** When that is so and all output was read. Never rejects. */
  readonly done: Promise<Outcome>;
  /** No keeper has it. */
  readonly keeperPid = null;
  readonly isParent = false;
  readonly #boxed: Boxed;
  readonly #log: ContainerLog;
  readonly #outcome: Outcome = { refused: null, main: null, lastNs: null, used: null, left: null, stuck: null };
  #timer: NodeJS.Timeout;
  /** Whether it is checkpointed, or about to be. */
  #isOut = false;
  #isOver = false;
  #removal: Promise<string | null> | null = null;
  #onOver: (main: MainEnding | null) => void = () => {};

  constructor(boxed: Boxed) {
    this.#boxed = boxed;
    this.#log = new ContainerLog(boxed.log, (stream, text) => this[stream].write(text));
    this.begun = Promise.resolve({ atNs: nowNs() });
    this.mainEnded = new Promise((resolve) => (this.#onOver = resolve));
    this.done = this.mainEnded.then(() => this.#outcome);
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
    void this.#start();
  }

  where(): Container {
    return this.#boxed.container;
  }

  /** PIDs of its processes, as this machine sees them. */
  pids(): number[] {
    const first = this.#boxed.container.first?.pid;
    return first === undefined || this.#isOut ? [] : [first, ...processesBelow(first)];
  }

  /** Ends one that was never restored: SIGTERM, and SIGKILL after the grace time. */
  stop(): void {
    void this.#boxed.ask(['stop', `--time=${GRACE_MS / 1_000}`, this.where().name]);
  }

  async checkpoint(): Promise<Kept> {
    this.#isOut = true;
    try {
      const kept = await this.#boxed.keeping.checkpoint(this.where().name);
      this.#isOut = kept.failure === null;
      this.#log.read();
      return kept;
    } catch (error) {
      this.#isOut = false;
      throw error;
    }
  }

  async restore(): Promise<Kept> {
    const { keeping, container } = this.#boxed;
    const kept = await keeping.restore(container.name);
    if (kept.failure !== null) return kept;
    await this.#find();
    this.#isOut = false;
    return kept;
  }

  /** Ends and removes it; answers why it could not. Where it was restored, only a checkpoint ends it. */
  remove(): Promise<string | null> {
    return (this.#removal ??= this.#remove());
  }

  async #remove(): Promise<string | null> {
    const { keeping, container } = this.#boxed;
    const { failure } = await keeping
      .remove(container.name)
      .catch((error: unknown) => ({ failure: `container ${container.name} was not removed: ${messageOf(error)}` }));
    if (failure === null) this.#over({ how: 'was ended', exitCode: null, signal: SIGKILL, atNs: nowNs() });
    else this.#over(null);
    container.over();
    return failure;
  }

  async #start(): Promise<void> {
    const { exit, output } = await this.#boxed.start();
    if (exit === 0) return this.#find();
    this.#outcome.refused = output.trim().split('\n').at(-1) || `exit code ${exit}`;
    this.#over(null);
  }

  /** Asks podman for the first process. */
  async #find(): Promise<void> {
    const { ask, container } = this.#boxed;
    const { output } = await ask([
      'container',
      'inspect',
      '--format={{.State.Running}} {{.State.Pid}}',
      container.name,
    ]);
    const [isRunning, pid] = output.trim().split(' ');
    container.renew(isRunning === 'true' ? Number(pid) : null);
    if (container.first === null) await this.#ended(nowNs());
  }

  #look(): void {
    this.#log.read();
    const pid = this.#boxed.container.first?.pid;
    if (pid === undefined || this.#isOut || this.#removal !== null || !hasEnded(pid)) return;
    clearInterval(this.#timer);
    void this.#ended(nowNs());
  }

  async #ended(atNs: number): Promise<void> {
    const { ask, container } = this.#boxed;
    const inspect = ['container', 'inspect', '--format={{.State.Status}} {{.State.ExitCode}}', container.name];
    let exitCode = NaN;
    for (const until = Date.now() + NOTED_MS; Date.now() < until && !this.#isOver; await sleep(LOOK_MS)) {
      const [status, code = ''] = (await ask(inspect)).output.trim().split(' ');
      if (status !== 'exited' && status !== 'stopped') continue;
      exitCode = Number(code);
      break;
    }
    if (Number.isNaN(exitCode)) this.#over({ how: 'ended', exitCode: null, signal: null, atNs });
    else this.#over({ how: `ended with exit code ${exitCode}`, exitCode, signal: null, atNs });
  }

  #over(main: MainEnding | null): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearInterval(this.#timer);
    this.#log.read();
    this.#log.close();
    this.#outcome.main = main;
    this.#outcome.lastNs = main?.atNs ?? null;
    for (const stream of [this.stdout, this.stderr]) stream.end();
    this.#onOver(main);
  }
}
