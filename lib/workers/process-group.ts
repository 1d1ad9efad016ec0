/** A child that leads its own process group: how it ended, and how to end the whole group. */
import type { ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { Ending, LaunchedProcess } from './launcher.js';
import { endsWithin } from './within.js';

const living = new Set<ProcessGroup>();

/** Workers must not outlive the coordinator, however it ends. */
function killAll(): void {
  for (const group of living) group.signal('SIGKILL');
}

/** How long `kill` waits, in milliseconds: after SIGTERM, and after SIGKILL. */
const PATIENCE = { term: 2_000, kill: 5_000 };

export class ProcessGroup implements LaunchedProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly pid: number | null;
  readonly ended: Promise<Ending>;
  readonly #patience: typeof PATIENCE;
  #giveUp: () => void = () => {};

  constructor(child: ChildProcessByStdio<Writable, Readable, Readable>, patience = PATIENCE) {
    this.stdin = child.stdin;
    this.stdout = child.stdout;
    this.stderr = child.stderr;
    this.pid = child.pid ?? null;
    this.#patience = patience;
    if (living.size === 0) process.once('exit', killAll);
    living.add(this);
    this.ended = new Promise<Ending>((resolve) => {
      child.once('error', (error) => resolve(unended(`could not be started (${error.message})`)));
      // `close` waits for the last output, but a grandchild that keeps the pipes open must not delay it forever.
      child.once('exit', (code, signal) => setTimeout(() => resolve(ending(code, signal)), 500));
      child.once('close', (code, signal) => resolve(ending(code, signal)));
      this.#giveUp = () => {
        child.unref();
        resolve(unended('was killed by SIGKILL and has not ended: it may hang in the driver'));
      };
    });
    this.ended.then(() => {
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
      this.#forget();
    });
  }

  signal(name: NodeJS.Signals): void {
    if (this.pid === null) return;
    try {
      process.kill(-this.pid, name);
    } catch {
      // The group is already empty.
    }
  }

  async kill(): Promise<void> {
    this.signal('SIGTERM');
    if (!(await endsWithin(this.ended, this.#patience.term))) this.signal('SIGKILL');
    if (!(await endsWithin(this.ended, this.#patience.kill))) this.#giveUp();
    await this.ended;
    // Kills members that ignored SIGTERM and outlived their leader.
    this.signal('SIGKILL');
  }

  async endWithin(ms: number): Promise<void> {
    if (await endsWithin(this.ended, ms)) this.signal('SIGKILL');
    else await this.kill();
  }

  #forget(): void {
    living.delete(this);
    if (living.size === 0) process.off('exit', killAll);
  }
}

const unended = (how: string): Ending => ({ how, exitCode: null, signal: null });

const ending = (exitCode: number | null, signal: NodeJS.Signals | null): Ending => ({
  how: signal ? `was killed by ${signal}` : `ended with exit code ${exitCode}`,
  exitCode,
  signal,
});
