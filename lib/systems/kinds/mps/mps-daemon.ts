/**
 * A private MPS control daemon in a run's own directory. Its guardian ends it however the run ends. Source: the MPS
 * documentation (docs.nvidia.com/deploy/mps).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BenchError } from '../../../errors/bench-error.js';
import { SERVERS_FILE } from '../../../environment/mps.js';
import { packageRoot } from '../../../package-root.js';
import { BoundedLog } from '../../../workers/lines.js';
import { withStreams } from '../../../workers/with-streams.js';
import { runCommand } from '../../process/command.js';
import { daemonFile } from './recorded-daemon.js';
import { exists } from '../../process/state-files.js';
import type { RunState } from '../../system.js';

const QUIT_MS = 30_000;
const POLL_MS = 50;

const guardian = join(packageRoot, 'dist/systems/kinds/mps/mps-guardian.js');

interface DaemonOptions {
  /** Name for messages. */
  name: string;
  /** The control program. */
  control: string;
  path: string;
  /** Contains its pipes and logs. */
  directory: string;
  run: RunState;
  /** UUIDs of the GPUs that it serves. */
  gpus: readonly string[];
  startTimeoutMs: number;
  /** Whether each client needs its own partition of the SMs. */
  partitioned: boolean;
}

/** Where a daemon and its clients meet. */
export const placesOf = (directory: string): Record<string, string> => ({
  CUDA_MPS_PIPE_DIRECTORY: join(directory, 'p'),
  CUDA_MPS_LOG_DIRECTORY: join(directory, 'l'),
});

export class MpsDaemon {
  readonly #options: DaemonOptions;
  readonly #environment: Record<string, string>;
  readonly #log = new BoundedLog();
  #guardian: ChildProcess | null = null;

  constructor(options: DaemonOptions) {
    this.#options = options;
    const { directory, path, gpus } = options;
    this.#environment = { PATH: path, ...placesOf(directory), CUDA_VISIBLE_DEVICES: gpus.join(',') };
  }

  /** Uses new folders, because files of an earlier daemon would mislead this one. */
  async start(): Promise<void> {
    const { directory, run } = this.#options;
    for (const place of Object.values(placesOf(directory))) {
      await rm(place, { recursive: true, force: true });
      await mkdir(place, { mode: 0o700 });
    }
    this.#guardian = this.#startGuardian();
    await this.#waitFor('no control pipe', () => exists(join(directory, 'p', 'control')), run.signal);
    await this.ask(`start_server -uid ${process.getuid?.()}`);
    await this.#waitFor('no active server', () => this.#serverIsActive(), run.signal);
    await writeFile(join(directory, SERVERS_FILE), (await this.#servers()).map((pid) => `${pid}\n`).join(''));
  }

  /** Returns the answer to a command of the control program. */
  async ask(command: string): Promise<string> {
    const options = { environment: this.#environment, cwd: '/', timeoutMs: 10_000, input: `${command}\n` };
    return (await runCommand([this.#options.control], options)).output;
  }

  /** Creates a partition of that many chunks of SMs and returns its name for clients. */
  async addPartition(chunks: number): Promise<string> {
    const { name, run } = this.#options;
    const answer = await this.ask(`sm_partition add ${run.gpu.uuid} ${chunks}`);
    const id = answer.split(/\s+/).find((word) => word.startsWith(`${run.gpu.uuid}/`));
    if (id !== undefined) return id;
    const said = answer.trim() || 'it gave no answer';
    throw new BenchError('SYSTEM', `The MPS daemon of ${name} gave no partition of ${chunks} chunks: ${said}`);
  }

  async removePartition(partition: string): Promise<void> {
    await this.ask(`sm_partition rm ${this.#options.run.gpu.uuid} ${partition}`);
  }

  /** Closing its guardian's stdin makes the daemon quit. Returns what could not be ended. */
  async quit(): Promise<string[]> {
    const child = this.#guardian;
    this.#guardian = null;
    if (!child || child.pid === undefined || hasEnded(child)) return [];
    const ended = once(child, 'exit').then(() => true);
    child.stdin?.end();
    if (await Promise.race([ended, sleep(QUIT_MS, false, { ref: false })])) return [];
    return [`the MPS daemon's guardian (PID ${child.pid}) still runs after ${QUIT_MS / 1_000} s`];
  }

  #startGuardian(): ChildProcess {
    const { control, directory, partitioned } = this.#options;
    const record = daemonFile(directory);
    // A process group of its own: Ctrl-C must reach only the run, which still has clients.
    const child = withStreams(
      spawn(process.execPath, [guardian, control, record, ...(partitioned ? ['-S'] : [])], {
        env: this.#environment,
        stdio: ['pipe', 'ignore', 'pipe'],
        detached: true,
      }),
    );
    child.stderr.on('data', (chunk: Buffer) => this.#log.append(chunk.toString()));
    child.stdin.on('error', () => {});
    child.on('error', (error) => this.#log.append(error.message));
    return child;
  }

  /** Returns their PIDs. */
  async #servers(): Promise<string[]> {
    return (await this.ask('get_server_list')).match(/^\d+$/gm) ?? [];
  }

  async #serverIsActive(): Promise<boolean> {
    const [server] = await this.#servers();
    return server !== undefined && /ACTIVE/.test(await this.ask(`get_server_status ${server}`));
  }

  async #waitFor(lacking: string, come: () => Promise<boolean>, signal: AbortSignal | undefined): Promise<void> {
    const { name, directory, startTimeoutMs } = this.#options;
    const child = this.#guardian as ChildProcess;
    for (const until = performance.now() + startTimeoutMs; performance.now() < until; await sleep(POLL_MS)) {
      signal?.throwIfAborted();
      if (child.pid === undefined || hasEnded(child))
        throw new BenchError('SYSTEM', `The MPS daemon of ${name} ended at once: ${this.#log.text.trim()}`);
      if (await come()) return;
    }
    const reason = lastLine(join(directory, 'l', 'control.log'));
    throw new BenchError(
      'SYSTEM',
      `Timed out after ${startTimeoutMs / 1_000} s: the MPS daemon of ${name} has ${lacking}. ${reason}`.trim(),
    );
  }
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

function lastLine(file: string): string {
  try {
    return `Its log ends: ${readFileSync(file, 'utf8').trim().split('\n').at(-1)}`;
  } catch {
    return 'It has written no log.';
  }
}
