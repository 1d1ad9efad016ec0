/** A process in a container: the client of the runtime passes its streams on, and what ends it ends the container. */
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import type { Ending, LaunchedProcess } from '../launcher.js';
import type { Container } from './container.js';
import type { Runtime } from './container-type.js';
import { endsWithin } from '../within.js';

/** Deadlines in milliseconds: after SIGTERM, and for a runtime to remove a container on a busy machine. */
const TERM_MS = 2_000;
const REMOVAL_MS = 20_000;

export class ContainerProcess implements LaunchedProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly ended: Promise<Ending>;
  readonly #client: LaunchedProcess;
  readonly #container: Container;
  readonly #runtime: Runtime;
  #hasEnded = false;

  constructor(client: LaunchedProcess, container: Container, runtime: Runtime) {
    [this.#client, this.#container, this.#runtime] = [client, container, runtime];
    [this.stdin, this.stdout, this.stderr] = [client.stdin, client.stdout, client.stderr];
    this.ended = client.ended.then((ending) => this.#over(ending));
  }

  /** PID of the container's first process, once it exists. */
  get pid(): number | null {
    return this.#container.first?.pid ?? null;
  }

  signal(name: NodeJS.Signals): void {
    if (this.#hasEnded || this.#sent(name)) return;
    void this.#container.signal(name);
    // The client may not have created the container yet; `ended` then removes what it creates.
    if (name === 'SIGKILL') this.#client.signal(name);
  }

  async kill(): Promise<void> {
    this.signal('SIGTERM');
    if (!(await endsWithin(this.ended, TERM_MS))) {
      await this.#container.remove();
      await this.#client.endWithin(REMOVAL_MS);
    }
    await this.ended;
  }

  async endWithin(ms: number): Promise<void> {
    if (!(await endsWithin(this.ended, ms + REMOVAL_MS))) await this.kill();
  }

  #sent(name: NodeJS.Signals): boolean {
    const { pid } = this;
    if (pid === null) return false;
    try {
      process.kill(pid, name);
      return true;
    } catch {
      // The process belongs to another user, as under docker; the runtime may send the signal.
      return false;
    }
  }

  async #over(ending: Ending): Promise<Ending> {
    this.#hasEnded = true;
    const translated = endingInside(ending, this.#runtime);
    // A client that ended by itself has removed it (--rm).
    const left = isRemoved(ending) ? null : await this.#container.remove();
    this.#container.over();
    return left === null ? translated : { ...translated, how: `${translated.how}; ${left}` };
  }
}

/** The exit codes of docker, podman and nerdctl for errors of their own. */
const RUNTIME_FAILED = 125;
const refusals: Readonly<Record<number, string>> = {
  125: 'could not be started',
  126: 'could not be started: the program cannot be executed',
  127: 'could not be started: the program is not in the image',
};

export const isRemoved = ({ exitCode }: Ending): boolean => exitCode !== null && exitCode < RUNTIME_FAILED;

/** A runtime says with 128 + N that signal N ended the process. */
export function endingInside(ending: Ending, { kind, program }: Runtime): Ending {
  const { exitCode } = ending;
  if (exitCode === null) return ending;
  const refusal = kind === 'oci' ? undefined : refusals[exitCode];
  if (refusal !== undefined) return { ...ending, how: `${refusal} (exit code ${exitCode} of ${program})` };
  return killedInside(ending);
}

/** Reads an exit code of 128 + N as the signal that it stands for. */
export function killedInside(ending: Ending): Ending {
  const { exitCode } = ending;
  if (exitCode === null) return ending;
  const signal = Object.entries(constants.signals).find(([, number]) => number === exitCode - 128)?.[0];
  if (signal === undefined) return ending;
  return { how: `was killed by ${signal}`, exitCode: null, signal: signal as NodeJS.Signals };
}
