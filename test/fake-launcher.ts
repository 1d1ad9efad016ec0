/**
 * A launcher whose processes are functions of the test: they speak the worker's protocol, find files under another root
 * and have their own clock.
 */
import { PassThrough } from 'node:stream';
import { LineSplitter } from '../lib/workers/lines.js';
import type { Ending, LaunchedProcess, Launcher, LaunchOptions, ProcessStart } from '../lib/workers/launcher.js';
import { decode, encode, errorToData, type Reply } from '../lib/workers/protocol.js';

/** Answers a request; `die` ends the process with that signal instead. */
export type Answer = (params: Record<string, unknown>, process: FakeProcess) => unknown;

export interface FakeOptions {
  /** Whether the process is any program instead of a worker: it sends nothing by itself and needs no input. */
  program?: boolean;
  answers?: Record<string, Answer>;
  root?: string;
  /** How far the clock of the processes is behind. */
  clockOffsetNs?: number;
}

/** The PID that every fake process reports. */
export const FAKE_PID = 4_711;

export class FakeProcess implements LaunchedProcess {
  readonly pid = FAKE_PID;
  readonly stdin = new PassThrough();
  readonly stdout = new PassThrough();
  readonly stderr = new PassThrough();
  readonly command: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  readonly requests: { method: string; params: Record<string, unknown> }[] = [];
  readonly signals: NodeJS.Signals[] = [];
  readonly ended: Promise<Ending>;
  #end!: (ending: Ending) => void;

  constructor(
    command: readonly string[],
    { environment }: LaunchOptions,
    { program = false, answers = {}, clockOffsetNs = 0 }: FakeOptions,
  ) {
    this.command = command;
    this.environment = environment;
    this.ended = new Promise((resolve) => (this.#end = resolve));
    if (program) return;
    const lines = new LineSplitter((line) => {
      const message = decode(line);
      if (message?.gvb === 'request') void this.#answer(answers[message.method], message);
    });
    this.stdin.on('data', (chunk: Buffer) => lines.push(chunk)).on('end', () => this.exit(0));
    const mainNs = String(process.hrtime.bigint() - BigInt(clockOffsetNs));
    this.#say({ gvb: 'ready', pid: FAKE_PID, mainNs, addonLoadNs: null });
  }

  async #answer(answer: Answer | undefined, { id, method, params }: { id: number; method: string; params: unknown }) {
    const asked = params as Record<string, unknown>;
    this.requests.push({ method, params: asked });
    try {
      if (!answer) throw new Error(`This fake process was not told how to answer ${method}.`);
      this.#say({ gvb: 'result', id, value: await answer(asked, this) });
    } catch (error) {
      this.#say({ gvb: 'error', id, error: errorToData(error) });
    }
  }

  #say(message: Reply): void {
    if (!this.stdout.writableEnded) this.stdout.write(encode(message));
  }

  exit(exitCode: number): void {
    this.#over({ how: `ended with exit code ${exitCode}`, exitCode, signal: null });
  }

  signal(name: NodeJS.Signals): void {
    this.signals.push(name);
    this.#over({ how: `was killed by ${name}`, exitCode: null, signal: name });
  }

  async kill(): Promise<void> {
    this.signal('SIGTERM');
    await this.ended;
  }

  async endWithin(): Promise<void> {
    await this.ended;
  }

  #over(ending: Ending): void {
    this.stdout.end();
    this.stderr.end();
    this.#end(ending);
  }
}

export class FakeLauncher implements Launcher {
  readonly name = 'fake';
  readonly clockOffsetNs: number;
  readonly started: FakeProcess[] = [];
  readonly #options: FakeOptions;

  constructor(options: FakeOptions = {}) {
    this.#options = options;
    this.clockOffsetNs = options.clockOffsetNs ?? 0;
  }

  start(command: readonly string[], options: LaunchOptions): FakeProcess {
    const launched = new FakeProcess(command, options, this.#options);
    this.started.push(launched);
    return launched;
  }

  pathOf(file: string): string {
    return `${this.#options.root ?? ''}${file}`;
  }

  /** How one of its processes starts. */
  get how(): ProcessStart {
    return { launcher: this, environment: { ONLY: 'this' }, argvPrefix: ['prefix'] };
  }
}
