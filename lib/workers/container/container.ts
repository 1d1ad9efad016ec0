/** One container from its start until nothing of it is left: its ID, its first process as this machine sees it, its end. */
import { readFileSync, readlinkSync, rmSync } from 'node:fs';
import type { Runtime, RuntimeFiles } from './container-type.js';

/** What a command of the runtime came to. */
interface Answer {
  exit: number | null;
  output: string;
}

/** `secret`: variables of the command's environment beside the usual ones. */
export type Ask = (argv: readonly string[], secret?: Readonly<Record<string, string>>) => Promise<Answer>;

/** First process of a container, as it was seen from outside when it had just been made. */
export interface FirstProcess {
  pid: number;
  /** Names of its namespaces in /proc, e.g. `mnt:[4026532177]`. */
  namespaces: ReadonlyMap<string, string>;
  /** /proc/PID/cgroup. */
  cgroup: string;
}

/**
 * Interval of the search for a container's first process: the container exists before that process becomes the program.
 */
const LOOK_MS = 10;
/** What runtimes say of a container that is not there. */
export const gone = /no such container|does not exist|not found|no container with/i;

export class Container {
  readonly name: string;
  readonly #runtime: Runtime;
  readonly #files: RuntimeFiles;
  readonly #ask: Ask;
  #id: string | null = null;
  #first: FirstProcess | null = null;
  #asking: Promise<void> | null = null;
  #timer: NodeJS.Timeout;

  constructor(name: string, runtime: Runtime, files: RuntimeFiles, ask: Ask) {
    [this.name, this.#runtime, this.#files, this.#ask] = [name, runtime, files, ask];
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
    this.#timer.unref();
  }

  /** Null until the runtime has said it. */
  get id(): string | null {
    // Plain OCI runtimes know it by its name alone.
    if (this.#runtime.kind === 'oci') return this.#first === null ? null : this.name;
    this.#id ??= textOf(this.#files.id) || null;
    return this.#id;
  }

  get first(): FirstProcess | null {
    return this.#first;
  }

  /** Like `first`, but asks the runtime of a running container if the first process is not known yet. */
  async find(): Promise<FirstProcess | null> {
    this.#look();
    await this.#asking;
    return this.#first;
  }

  /** Sends a signal to the first process by the runtime. */
  async signal(name: NodeJS.Signals): Promise<void> {
    const kill = this.#runtime.kind === 'oci' ? ['kill', this.name, name] : ['kill', `--signal=${name}`, this.name];
    await this.#ask(kill);
  }

  /** Ends it where it runs, and removes it where it is there; answers why it could not. */
  async remove(): Promise<string | null> {
    const { exit, output } = await this.#ask(removal(this.#runtime, this.name));
    this.over();
    if (exit === 0 || gone.test(output)) return null;
    return `container ${this.name} could not be removed: ${output.trim().split('\n').at(-1) || `exit code ${exit}`}`;
  }

  /** Takes another process for its first one, as after a restore; null: it has none. */
  renew(pid: number | null): void {
    clearInterval(this.#timer);
    this.#first = pid === null ? null : firstProcess(pid);
  }

  /** Call when the container has ended and its runtime has removed it. */
  over(): void {
    clearInterval(this.#timer);
    void this.id;
    for (const file of Object.values(this.#files)) rmSync(file, { recursive: true, force: true });
  }

  #look(): void {
    if (this.#first !== null) return clearInterval(this.#timer);
    const pid = Number(textOf(this.#files.pid));
    if (pid > 0) this.#first = firstProcess(pid);
    else if (this.#runtime.kind === 'docker' && this.id !== null) this.#asking ??= this.#askForPid();
  }

  async #askForPid(): Promise<void> {
    const { exit, output } = await this.#ask(['inspect', '--format={{.State.Pid}}', this.name]);
    const pid = Number(output.trim());
    if (exit === 0 && pid > 0) this.#first = firstProcess(pid);
    this.#asking = null;
  }
}

/** Command line that removes one or several containers. */
export const removal = ({ kind }: Runtime, ...names: string[]): string[] =>
  kind === 'oci' ? ['delete', '--force', ...names] : ['rm', '--force', ...names];

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    // The runtime has not written it yet.
    return '';
  }
}

/** Null if the process has ended, or this user may not inspect it. */
export function firstProcess(pid: number): FirstProcess | null {
  try {
    return { pid, namespaces: namespacesOf(pid), cgroup: readFileSync(`/proc/${pid}/cgroup`, 'utf8') };
  } catch {
    return null;
  }
}

const kinds = ['cgroup', 'ipc', 'mnt', 'net', 'pid', 'user', 'uts'] as const;

export const namespacesOf = (pid: number | 'self'): ReadonlyMap<string, string> =>
  new Map(kinds.map((kind) => [kind, readlinkSync(`/proc/${pid}/ns/${kind}`)]));
