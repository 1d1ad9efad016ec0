/** Any program as a tenant. Each line it prints is a mark of its progress. */
import { loadAddon } from '../native/load.js';
import type { Activity } from './activity.js';
import type { Ending, LaunchedProcess, ProcessStart } from './launcher.js';
import { BoundedLog, LineSplitter } from './lines.js';
import { ProgressMarks } from './progress-marks.js';
import type { Role, TenantHandle } from './tenant-handle.js';

export class CommandTenant implements TenantHandle {
  readonly role: Role;
  readonly exit: Promise<Ending>;
  readonly #process: LaunchedProcess;
  readonly #log = new BoundedLog();
  readonly #marks = new ProgressMarks();
  readonly #startNs = loadAddon().now();
  #endNs: number | null = null;

  constructor(role: Role, command: readonly string[], { launcher, environment, argvPrefix }: ProcessStart) {
    this.role = role;
    this.#process = launcher.start([...argvPrefix, ...command], { environment });
    const lines = new LineSplitter((line) => {
      this.#marks.add(loadAddon().now());
      this.#log.append(`${line}\n`);
    });
    this.#process.stdout.on('data', (chunk: Buffer) => lines.push(chunk)).on('end', () => lines.end());
    this.#process.stderr.on('data', (chunk: Buffer) => this.#log.append(chunk.toString()));
    // The process may end before it reads the end of its input.
    this.#process.stdin.on('error', () => {}).end();
    this.exit = this.#process.ended;
    void this.exit.then(() => {
      this.#endNs = loadAddon().now();
    });
  }

  /** The PID on this machine, e.g. for NVML; null if the process could not be started, or runs elsewhere. */
  get pid(): number | null {
    return this.#process.pid;
  }

  /** Up to now while it runs. */
  get activity(): Activity {
    return { startNs: this.#startNs, endNs: this.#endNs ?? loadAddon().now(), marksNs: this.#marks.marksNs };
  }

  /** The end of its output, at most 64 KiB. */
  get log(): string {
    return this.#log.text;
  }

  signal(name: NodeJS.Signals): void {
    this.#process.signal(name);
  }

  stop(): Promise<void> {
    return this.#process.kill();
  }
}
