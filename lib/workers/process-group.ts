/** A child that leads its own process group: how it ended, and making the whole group end. */
import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

const living = new Set<ProcessGroup>();

/** Workers must not outlive the coordinator, however it leaves. */
function killAll(): void {
  for (const group of living) group.signal('SIGKILL');
}

/** How long `kill` waits, in milliseconds: after SIGTERM, and after SIGKILL. */
const PATIENCE = { term: 2_000, kill: 5_000 };

export class ProcessGroup {
  /** Says how in words: "ended with exit code 3", "was killed by SIGSEGV". Never rejects. */
  readonly ended: Promise<string>;
  readonly #pid: number | undefined;
  readonly #patience: typeof PATIENCE;
  #giveUp: () => void = () => {};

  constructor(child: ChildProcess, patience = PATIENCE) {
    this.#pid = child.pid;
    this.#patience = patience;
    if (living.size === 0) process.once('exit', killAll);
    living.add(this);
    this.ended = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(`could not be started (${error.message})`));
      // `close` waits for the last output; a grandchild that holds the pipes open must not hold us up.
      child.once('exit', (code, signal) => setTimeout(() => resolve(words(code, signal)), 500));
      child.once('close', (code, signal) => resolve(words(code, signal)));
      this.#giveUp = () => {
        child.unref();
        resolve('was killed by SIGKILL and has not ended: it may hang in the driver');
      };
    });
    this.ended.then(() => {
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
      this.#forget();
    });
  }

  signal(name: NodeJS.Signals): void {
    if (this.#pid === undefined) return;
    try {
      process.kill(-this.#pid, name);
    } catch {
      // The group is already empty.
    }
  }

  /** Resolves even where the process cannot end, as one that is stuck in a driver call of the kernel. */
  async kill(): Promise<void> {
    this.signal('SIGTERM');
    if (!(await this.#endsWithin(this.#patience.term))) this.signal('SIGKILL');
    if (!(await this.#endsWithin(this.#patience.kill))) this.#giveUp();
    await this.ended;
    // Members that ignored SIGTERM and outlived their leader.
    this.signal('SIGKILL');
  }

  async endWithin(ms: number): Promise<void> {
    if (await this.#endsWithin(ms)) this.signal('SIGKILL');
    else await this.kill();
  }

  async #endsWithin(ms: number): Promise<boolean> {
    const stop = new AbortController();
    const late = sleep(ms, false, { signal: stop.signal }).catch(() => false);
    const inTime = await Promise.race([this.ended.then(() => true), late]);
    stop.abort();
    return inTime;
  }

  #forget(): void {
    living.delete(this);
    if (living.size === 0) process.off('exit', killAll);
  }
}

function words(code: number | null, signal: NodeJS.Signals | null): string {
  return signal ? `was killed by ${signal}` : `ended with exit code ${code}`;
}
