/**
 * A user's program under gvb-keeper (native/keeper), which becomes the parent of every process that forks away from it:
 * resource use covers all its processes, and none outlives the run. Times are of CLOCK_MONOTONIC in nanoseconds, like
 * those of `process.hrtime.bigint`.
 */
import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import { getSystemErrorMap } from 'node:util';
import { LineSplitter } from './lines.js';
import { killMarked } from './marked-processes.js';
import { withStreams } from './with-streams.js';

interface KeptOptions {
  /** Path of gvb-keeper. */
  keeper: string;
  /** The complete environment of the program; a mark is added. */
  environment: NodeJS.ProcessEnv;
  cwd: string;
  /** How long processes that the program started may outlive it. */
  stragglerMs: number;
  /** Time from SIGTERM to SIGKILL. */
  graceMs: number;
  /** Whether it may be given to a guardian: it is in a session of its own, and does not die with its keeper. */
  isGuardable?: boolean;
  /** Whether it is started only by `begin`. Default false: at once. */
  waits?: boolean;
}

interface Begun {
  pid: number;
  /** Just before the fork. */
  atNs: number;
}

export interface MainEnding {
  /** `ended with exit code 3`, `was killed by signal 9`. */
  how: string;
  /** Null if a signal ended it. */
  exitCode: number | null;
  signal: number | null;
  atNs: number;
}

/** Summed over all its processes. */
export interface Used {
  cpuUserUs: number;
  cpuSystemUs: number;
  /** Peak of the largest single process. */
  largestProcessBytes: number;
}

export interface Outcome {
  /** Why it could not be started; null if it ran. */
  refused: string | null;
  main: MainEnding | null;
  /** When the last of its processes ended; null if the keeper was killed. */
  lastNs: number | null;
  /** Null if the keeper was killed. */
  used: Used | null;
  /**
   * Processes that still ran when the program had ended, and were killed: the first few as `PID:NAME`; null if there
   * were none.
   */
  left: { count: number; named: string } | null;
  /** Processes that could not be killed. */
  stuck: string | null;
}

const KEEPER_MARK = 'GVB_KEPT';

/** How long processes of a program may outlive its first one. */
export const STRAGGLER_MS = 2_000;
/** Time from SIGTERM to SIGKILL in milliseconds, as container runtimes have it. */
export const GRACE_MS = 10_000;

const living = new Set<Kept>();

/** Kills them at once, with all processes that they started. */
export function killKeptPrograms(): void {
  for (const program of living) program.kill();
}

/** Streams to the keeper and from it. */
interface Channels {
  control: Writable;
  reports: Readable;
}

/** What a program in its own process group and one at the terminal have in common. */
export abstract class Kept {
  /** PID of the keeper, the ancestor of all processes of the program; null if it could not be started. */
  readonly keeperPid: number | null;
  /** Null if it could not be started. */
  readonly begun: Promise<Begun | null>;
  /** When its first process has ended, or nothing started. */
  readonly mainEnded: Promise<MainEnding | null>;
  /** When all processes have ended and all output was read. Never rejects. */
  readonly done: Promise<Outcome>;
  readonly #control: Writable;
  readonly #environment: Buffer;
  readonly #outcome: Outcome = { refused: null, main: null, lastNs: null, used: null, left: null, stuck: null };
  #isGuarded = false;
  #hasBegun = false;
  #onAbandoned: () => void = () => {};
  #onGiven: (isGiven: boolean) => void = () => {};
  #onBegun: (begun: Begun | null) => void = () => {};
  #onMain: (ending: MainEnding | null) => void = () => {};

  protected constructor(
    child: ChildProcess,
    { control, reports }: Channels,
    { environment, waits = false }: Pick<KeptOptions, 'environment' | 'waits'>,
  ) {
    const mark = `${KEEPER_MARK}=${randomUUID()}`;
    this.begun = new Promise((resolve) => (this.#onBegun = resolve));
    this.mainEnded = new Promise((resolve) => (this.#onMain = resolve));
    this.keeperPid = child.pid ?? null;
    this.#control = control;
    // The keeper may end before it reads; its end is reported.
    control.on('error', () => {});
    this.#environment = encoded({ ...environment, [KEEPER_MARK]: mark.slice(KEEPER_MARK.length + 1) });
    if (!waits) this.begin();
    const lines = new LineSplitter((line) => this.#note(line));
    reports.on('data', (chunk: Buffer) => lines.push(chunk)).on('end', () => lines.end());
    living.add(this);
    this.done = this.#doneOf(child, mark);
  }

  /** Starts one that waits: its keeper reads the environment before it does anything else. */
  begin(): void {
    this.#hasBegun = true;
    this.#control.write(this.#environment);
  }

  /** Whether it was started, or need not wait for that. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Ends one that waits, without starting it. */
  cancel(): void {
    this.#control.end();
  }

  /** Sends SIGTERM to all its processes, and SIGKILL after the grace time. */
  stop(): void {
    this.#control.write('S');
  }

  /** Sends SIGKILL to all its processes. */
  kill(): void {
    this.#control.write('K');
  }

  /**
   * From when this resolves with true, nothing here ends a process of it, also when this process ends: its guardian
   * does. False: it is being ended, or has ended.
   */
  async giveToGuardian(): Promise<boolean> {
    const given = new Promise<boolean>((resolve) => (this.#onGiven = resolve));
    this.#control.write('G');
    return Promise.race([given, this.done.then(() => false)]);
  }

  /** Leaves it alive, because its guardian could not end it: nothing waits for it any longer. */
  abandon(): void {
    this.#onAbandoned();
  }

  async #doneOf(child: ChildProcess, mark: string): Promise<Outcome> {
    const failure = await new Promise<Error | null>((resolve) => {
      child.once('error', resolve);
      child.once('close', () => resolve(null));
      this.#onAbandoned = () => {
        child.unref();
        resolve(null);
      };
    });
    if (failure) this.#outcome.refused = `gvb-keeper could not be started: ${failure.message}`;
    // Only a killed keeper leaves processes behind.
    if (this.#outcome.used === null && this.#outcome.refused === null && !this.#isGuarded) killMarked(mark);
    for (const stream of child.stdio) stream?.destroy();
    living.delete(this);
    this.#onBegun(null);
    this.#onMain(this.#outcome.main);
    return this.#outcome;
  }

  /** Parses the reports of native/keeper/main.cpp. */
  #note(line: string): void {
    const [kind, first = '', second = '', third = '', fourth = ''] = line.split(' ');
    const outcome = this.#outcome;
    if (kind === 'started') this.#onBegun({ pid: Number(first), atNs: Number(second) });
    else if (kind === 'refused') outcome.refused = refusalText(first, Number(second));
    else if (kind === 'left') outcome.left = { count: Number(first), named: line.split(' ').slice(2).join(' ') };
    else if (kind === 'given') this.#onGiven((this.#isGuarded = first === '1'));
    else if (kind === 'stuck') outcome.stuck = line.slice('stuck '.length);
    else if (kind === 'ended') {
      outcome.main = endingOf(Number(first), Number(second), Number(third));
      this.#onMain(outcome.main);
    } else if (kind === 'done') {
      outcome.used = {
        cpuUserUs: Number(first),
        cpuSystemUs: Number(second),
        largestProcessBytes: 1_024 * Number(third),
      };
      outcome.lastNs = Number(fourth);
    }
  }
}

/** What a program under a keeper and one in a container that stays have in common. */
export type RunningProgram = Pick<KeptProgram, 'mainEnded' | 'done' | 'stdout' | 'stderr' | 'keeperPid' | 'stop'> & {
  readonly begun: Promise<{ atNs: number } | null>;
};

/** A program in a process group of its own, away from the terminal, whose output is read. */
export class KeptProgram extends Kept {
  readonly stdout: Readable;
  readonly stderr: Readable;

  constructor(command: readonly string[], options: KeptOptions) {
    const child = startKeeper(command, options, ['pipe', 'pipe', 'pipe', 'pipe'], guardable(options));
    const [control, stdout, stderr, reports] = child.stdio as unknown as [Writable, Readable, Readable, Readable];
    super(child, { control, reports }, options);
    [this.stdout, this.stderr] = [stdout, stderr];
  }
}

const guardable = ({ isGuardable }: KeptOptions): string[] => (isGuardable ? ['--guardable'] : []);

/** `flags` of native/keeper/main.cpp say which descriptor is what. */
export const startKeeper = (
  command: readonly string[],
  { keeper, cwd, stragglerMs, graceMs, isGuardable = false }: KeptOptions,
  stdio: StdioOptions,
  flags: readonly string[] = [],
): ChildProcess =>
  withStreams(
    spawn(keeper, [...flags, cwd, String(stragglerMs), String(graceMs), ...command], {
      env: {},
      stdio,
      // It leaves the terminal by itself.
      detached: isGuardable,
      shell: false,
    }),
  );

/** `2 processes running (12:sleep, 13:cat), which were killed`. */
export const leftText = ({ count, named }: NonNullable<Outcome['left']>): string =>
  `${count === 1 ? '1 process' : `${count} processes`} running (${named.replaceAll(',', ', ')}), which ${count === 1 ? 'was' : 'were'} killed`;

/** The format that native/keeper/main.cpp reads. */
function encoded(environment: NodeJS.ProcessEnv): Buffer {
  const texts = Object.entries(environment).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${value}\0`],
  );
  const block = Buffer.from(texts.join(''));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(block.length);
  return Buffer.concat([length, block]);
}

function refusalText(step: string, error: number): string {
  const reason = getSystemErrorMap().get(-error)?.[1] ?? `error ${error}`;
  if (step === 'folder') return `its working directory cannot be entered: ${reason}`;
  return step === 'program' ? reason : `no ${step} could be made for it: ${reason}`;
}

const endingOf = (code: number, signal: number, atNs: number): MainEnding =>
  signal === 0
    ? { how: `ended with exit code ${code}`, exitCode: code, signal: null, atNs }
    : { how: `was killed by signal ${signal}`, exitCode: null, signal, atNs };
