/**
 * Starts processes whose GPU state may be restored from a checkpoint: in a session of their own, without a parent-death
 * signal. Whoever ends one, by a deadline, a signal or the end of the run, asks the guardian.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { Ending, LaunchedProcess, Launcher } from '../workers/launcher.js';
import { withStreams } from '../workers/with-streams.js';
import type { CheckpointGuardian } from './checkpoint-guarding.js';

/** `gpu`: UUID of the GPU that they use; null: not known. */
export const guardedBy = (guardian: CheckpointGuardian, gpu: string | null): Launcher => ({
  name: 'guarded',
  start([command = '', ...args], { environment: env, cwd }) {
    const child = spawn(command, args, {
      env: { ...env, GVB_GUARDED: '1' },
      cwd,
      stdio: 'pipe',
      detached: true,
      shell: false,
    });
    return new GuardedProcess(withStreams(child), guardian, gpu);
  },
  pathOf: (file) => file,
  clockOffsetNs: 0,
});

class GuardedProcess implements LaunchedProcess {
  readonly pid: number | null;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly ended: Promise<Ending>;
  readonly #guardian: CheckpointGuardian;
  readonly #known: Promise<void>;
  #leave: (how: string) => void = () => {};

  constructor(
    child: ChildProcessByStdio<Writable, Readable, Readable>,
    guardian: CheckpointGuardian,
    gpu: string | null,
  ) {
    this.pid = child.pid ?? null;
    this.stdin = child.stdin;
    this.stdout = child.stdout;
    this.stderr = child.stderr;
    this.#guardian = guardian;
    this.#known = this.pid === null ? Promise.resolve() : guardian.guard(this.pid, gpu);
    this.#known.catch(() => undefined); // `kill` says it
    this.ended = new Promise<Ending>((resolve) => {
      const end = (how: string, exitCode: number | null = null, signal: NodeJS.Signals | null = null) =>
        resolve({ how, exitCode, signal });
      child.once('error', (error) => end(`could not be started (${error.message})`));
      child.once('close', (code, signal) =>
        end(signal ? `was killed by ${signal}` : `ended with exit code ${code}`, code, signal),
      );
      this.#leave = (how) => {
        child.unref();
        for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
        end(`was left alive: ${how}`);
      };
    });
  }

  /** Signals that end a process are the guardian's to send. */
  signal(name: NodeJS.Signals): void {
    if (this.pid === null) return;
    if (name === 'SIGSTOP' || name === 'SIGCONT') process.kill(-this.pid, name);
    else void this.kill();
  }

  async kill(): Promise<void> {
    if (this.pid !== null) {
      const { ended, how } = await this.#known
        .then(() => this.#guardian.end(this.pid as number))
        .catch((error: Error) => ({ ended: false, how: error.message }));
      if (!ended) this.#leave(how);
    }
    await this.ended;
  }

  /** It would have to end alive, so it does not end by itself. */
  async endWithin(): Promise<void> {
    await this.kill();
  }
}
