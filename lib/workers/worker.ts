/** A worker process: a fresh Node process under a given environment that answers requests, one at a time. */
import { join } from 'node:path';
import type { Target } from '../native/addon-types.js';
import { BenchError } from '../errors/bench-error.js';
import { packageRoot } from '../package-root.js';
import type { Ending, LaunchedProcess, Launcher, ProcessStart } from './launcher.js';
import { BoundedLog, LineSplitter } from './lines.js';
import { decode, encode, errorFromData, type Reply } from './protocol.js';

export interface WorkerOptions {
  start: ProcessStart;
  /** Timeout from the start to the worker's first message. Default `patienceMs`, else 60 s. */
  startTimeoutMs?: number;
  /** Timeout of each step until it can measure: its start, its description, its probe. Default: each step's own. */
  patienceMs?: number | undefined;
  /** Called with the name of each of these steps, e.g. `the worker process to start`. */
  onWaiting?: ((what: string) => void) | undefined;
  signal?: AbortSignal;
}

export interface RequestOptions {
  deadlineMs: number;
  signal?: AbortSignal;
  onProgress?: (value: unknown) => void;
}

export interface WorkerTiming {
  /** Time from just before the spawn to the first statement of the worker. */
  spawnToMainNs: number;
  /** Time to load the addon; null if it did not load. */
  addonLoadNs: number | null;
}

interface Pending {
  settle: (outcome: { value: unknown } | { error: unknown }) => void;
  onProgress?: ((value: unknown) => void) | undefined;
}

/** The process of a worker ended before it answered: by itself, or killed by something else than a deadline of ours. */
export class WorkerEnded extends BenchError {
  constructor(how: string) {
    super('WORKER', `The worker process ${how}`);
  }
}

const workers = new Set<Worker>();

/** Kills them at once. Pending requests reject with a message that the worker was killed. */
export function killWorkers(): void {
  for (const worker of workers) worker.signal('SIGKILL');
}

/** After 8 s of idleness V8 would collect garbage: 25 ms of processor time in the middle of a measurement. */
const quiet = ['--no-memory-reducer'];
const mainModule = join(packageRoot, 'dist/worker/main.js');
const READY = 0;
const START_MS = 60_000;

/** Requests by name, as errors and progress describe them. */
const preparing: Readonly<Record<string, string>> = {
  describe: 'initialise the driver and list its GPUs',
  probeLayer: 'test the limits it is under',
};
const tasks: Readonly<Record<string, string>> = { ...preparing, measure: 'finish the measurement' };

export class Worker {
  readonly #launcher: Launcher;
  readonly #device: string | undefined;
  readonly #process: LaunchedProcess;
  readonly #log = new BoundedLog();
  readonly #pending = new Map<number, Pending>();
  readonly #onWaiting: (what: string) => void;
  readonly #spawnedNs = process.hrtime.bigint();
  #nextId = READY;
  #ended: WorkerEnded | null = null;
  #timing: WorkerTiming = { spawnToMainNs: 0, addonLoadNs: null };
  #pid = 0;
  /** Timeout of each step until it can measure; undefined: each step's own. */
  readonly patienceMs: number | undefined;

  private constructor(options: WorkerOptions) {
    this.patienceMs = options.patienceMs;
    this.#onWaiting = options.onWaiting ?? (() => {});
    const { launcher, environment, argvPrefix, device } = options.start;
    const node = [launcher.pathOf(process.execPath), ...quiet, launcher.pathOf(mainModule)];
    this.#launcher = launcher;
    this.#device = device;
    this.#process = launcher.start([...argvPrefix, ...node], { environment });
    // Every message starts with a newline, which leaves empty lines.
    const noise = (line: string) => (line === '' ? undefined : this.#log.append(`${line}\n`));
    const replies = new LineSplitter((line) => {
      const message = decode(line);
      if (message && message.gvb !== 'request') this.#receive(message);
      else noise(line);
    });
    this.#process.stdout.on('data', (chunk: Buffer) => replies.push(chunk)).on('end', () => replies.end());
    this.#process.stderr.on('data', (chunk: Buffer) => this.#log.append(chunk.toString()));
    // Writing to a worker that has ended fails here; #end reports its end once.
    this.#process.stdin.on('error', () => {});
    workers.add(this);
    this.exit = this.#process.ended;
    this.exit.then(({ how }) => this.#end(how));
  }

  static async start(options: WorkerOptions): Promise<Worker> {
    options.signal?.throwIfAborted();
    const worker = new Worker(options);
    worker.#onWaiting('the worker process to start');
    await worker.#expect('start', null, {
      deadlineMs: options.startTimeoutMs ?? options.patienceMs ?? START_MS,
      ...(options.signal && { signal: options.signal }),
    });
    return worker;
  }

  /** Never rejects. */
  readonly exit: Promise<Ending>;

  /** The PID that the worker itself sees; in another PID namespace it differs from the child's PID here. */
  get pid(): number {
    return this.#pid;
  }

  get timing(): WorkerTiming {
    return this.#timing;
  }

  /** Output of the worker besides the protocol, at most the last 64 KiB. */
  get log(): string {
    return this.#log.text;
  }

  get alive(): boolean {
    return this.#ended === null;
  }

  /** After a deadline or an abort the worker is killed, because its state is unknown. */
  request(method: string, params: unknown, options: RequestOptions): Promise<unknown> {
    if (method in preparing) this.#onWaiting(`the worker process to ${preparing[method]}`);
    return this.#expect(tasks[method] ?? `answer ${method}`, { method, params }, options);
  }

  /** Lets it end by itself, then kills it. */
  async stop(): Promise<void> {
    this.#process.stdin.end();
    await this.#process.endWithin(2_000);
  }

  async kill(): Promise<void> {
    await this.#process.kill();
  }

  signal(name: NodeJS.Signals): void {
    this.#process.signal(name);
  }

  /** The target with paths as the worker finds them, and the GPU that it measures. */
  targetIn<T extends Target>(target: T): T {
    const { simulatedDriver } = target;
    const own = this.#device !== undefined && 'device' in target && target.device !== null;
    return {
      ...target,
      ...(own && { device: this.#device }),
      simulatedDriver: simulatedDriver === null ? null : this.#launcher.pathOf(simulatedDriver),
    };
  }

  /** Converts a time of the worker's clock to ours. */
  oursNs(theirs: number): number {
    return theirs + this.#launcher.clockOffsetNs;
  }

  /** Converts a time of our clock to the worker's. */
  theirsNs(ours: number): number {
    return ours - this.#launcher.clockOffsetNs;
  }

  async #expect(task: string, call: { method: string; params: unknown } | null, options: RequestOptions) {
    options.signal?.throwIfAborted();
    if (this.#ended) throw this.#ended;
    const id = this.#nextId++;
    let timer: NodeJS.Timeout | undefined;
    let onAbort: (() => void) | undefined;
    try {
      return await new Promise<unknown>((resolve, reject) => {
        this.#pending.set(id, {
          settle: (outcome) => ('error' in outcome ? reject(outcome.error) : resolve(outcome.value)),
          onProgress: options.onProgress,
        });
        onAbort = () => reject(options.signal?.reason);
        options.signal?.addEventListener('abort', onAbort, { once: true });
        timer = setTimeout(() => reject(this.#late(task, options.deadlineMs)), options.deadlineMs);
        if (call) this.#process.stdin.write(encode({ gvb: 'request', id, ...call }));
      });
    } finally {
      clearTimeout(timer);
      if (onAbort) options.signal?.removeEventListener('abort', onAbort);
      if (this.#pending.delete(id)) await this.kill();
    }
  }

  #receive(message: Reply): void {
    if (message.gvb === 'progress') {
      this.#pending.get(message.id)?.onProgress?.(message.value);
      return;
    }
    const id = message.gvb === 'ready' ? READY : message.id;
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (message.gvb === 'ready') {
      this.#pid = message.pid;
      const spawnToMainNs = this.oursNs(Number(message.mainNs)) - Number(this.#spawnedNs);
      this.#timing = { spawnToMainNs, addonLoadNs: message.addonLoadNs };
      pending?.settle({ value: undefined });
    } else if (message.gvb === 'error') pending?.settle({ error: errorFromData(message.error) });
    else pending?.settle({ value: message.value });
  }

  #late(task: string, deadlineMs: number): BenchError {
    const message = `Timed out after ${deadlineMs / 1000} s: the worker process did not ${task} and was killed.${this.#lastWords()}`;
    return new BenchError('WORKER', message);
  }

  #end(how: string): void {
    workers.delete(this);
    this.#ended = new WorkerEnded(`${how}.${this.#lastWords()}`);
    for (const [id, pending] of this.#pending) {
      this.#pending.delete(id);
      pending.settle({ error: this.#ended });
    }
  }

  #lastWords(): string {
    const lines = this.#log.lastLines(3);
    return lines.length > 0 ? ` It last printed: ${lines.join(' | ')}` : '';
  }
}
