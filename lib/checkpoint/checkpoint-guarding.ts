/** The run's side of the process that ends checkpointed processes (checkpoint-guardian.ts). */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { BenchError } from '../errors/bench-error.js';
import type { Target } from '../native/addon-types.js';
import { packageRoot } from '../package-root.js';
import { BoundedLog, LineSplitter } from '../workers/lines.js';
import { Questions } from '../workers/questions.js';
import { withStreams } from '../workers/with-streams.js';
import type { TargetEnd } from './end-target.js';
import type { GuardNote, GuardReply } from './guard-notes.js';

const program = join(packageRoot, 'dist/checkpoint/checkpoint-guardian.js');

export class CheckpointGuardian {
  readonly #child: ChildProcess;
  readonly #log = new BoundedLog();
  readonly #questions: Questions<GuardReply>;
  readonly #exit: Promise<unknown>;

  /** `environment`: without a layer, so that nothing stands between it and the driver. */
  constructor({ simulatedDriver }: Target, environment: NodeJS.ProcessEnv) {
    // A session of its own: Ctrl-C is the run's to handle.
    const child = withStreams(
      spawn(process.execPath, [program, ...(simulatedDriver === null ? [] : [simulatedDriver])], {
        env: environment,
        stdio: 'pipe',
        detached: true,
      }),
    );
    this.#child = child;
    child.stderr.on('data', (chunk: Buffer) => this.#log.append(chunk.toString()));
    child.stdin.on('error', () => {});
    child.on('error', (error) => this.#log.append(error.message));
    const questions = new Questions<GuardReply>((line) => child.stdin.write(line));
    this.#questions = questions;
    const replies = new LineSplitter((line) => questions.answer(line));
    child.stdout.on('data', (chunk: Buffer) => replies.push(chunk));
    this.#exit = once(child, 'exit').catch(() => undefined);
    void this.#exit.then(() => questions.end(this.#gone()));
  }

  /** Guards a process; rejects if it has ended. */
  async guard(pid: number, gpu: string | null): Promise<void> {
    const { ended, how } = await this.#tell({ what: 'guard', pid, gpu });
    if (ended) throw new BenchError('WORKER', `Process ${pid} cannot be guarded: ${how}.`);
  }

  /** Call it before the restore itself: from then on the process is ended only when checkpointed. */
  async noteRestore(pid: number): Promise<void> {
    const { how } = await this.#tell({ what: 'restore', pid });
    if (how !== 'noted') throw new BenchError('WORKER', `Process ${pid} may not be restored: ${how}.`);
  }

  /**
   * Guards all processes below the keeper, of which `restored` are about to be. Call it before each restore, and let the
   * keeper end none from then on.
   */
  async guardTree(keeper: number, gpu: string | null, restored: readonly number[]): Promise<void> {
    const { how } = await this.#tell({ what: 'guard-tree', pid: keeper, gpu, restored });
    if (how !== 'noted') throw new BenchError('WORKER', `The program may not be restored: ${how}.`);
  }

  /** The only way to end it. */
  async end(pid: number): Promise<TargetEnd> {
    return this.#tell({ what: 'end', pid });
  }

  /** Ends all that it guards; answers what was left alive, and why. */
  async close(): Promise<string[]> {
    this.#child.stdin?.end();
    await this.#exit;
    if (this.#child.exitCode === 0) return [];
    const lines = this.#log.lastLines(5);
    return lines.length > 0 ? lines : [`their guardian ended with ${this.#child.signalCode ?? this.#child.exitCode}`];
  }

  #tell(note: GuardNote extends infer Each ? (Each extends GuardNote ? Omit<Each, 'id'> : never) : never) {
    const { exitCode, signalCode, pid } = this.#child;
    if (pid === undefined || exitCode !== null || signalCode !== null) return Promise.reject(this.#gone());
    return this.#questions.ask(note);
  }

  #gone(): BenchError {
    const { signalCode, exitCode } = this.#child;
    const why = this.#log.lastLines(1)[0] ?? signalCode ?? `exit code ${exitCode}`;
    return new BenchError('WORKER', `The guardian of checkpointed processes ended early: ${why}.`);
  }
}
