/** The process that removes the containers of a run when the run ends, however it ends (container-guardian.ts). */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { packageRoot } from '../../../package-root.js';
import type { Runtime } from '../../../workers/container/container-type.js';
import { BoundedLog } from '../../../workers/lines.js';
import { withStreams } from '../../../workers/with-streams.js';

const program = join(packageRoot, 'dist/systems/kinds/container/container-guardian.js');
/** Removing many containers at once. */
const CLEAN_UP_MS = 60_000;

export class Guardian {
  readonly #child: ChildProcess;
  readonly #log = new BoundedLog();

  /** `prefix`: how the names of the containers begin. */
  constructor(runtime: Runtime, prefix: string, environment: Record<string, string>) {
    // A group of its own: Ctrl-C is the run's to handle.
    const child = withStreams(
      spawn(process.execPath, [program, prefix, runtime.kind, runtime.program, ...runtime.options], {
        env: environment,
        stdio: ['pipe', 'ignore', 'pipe'],
        detached: true,
      }),
    );
    child.stderr.on('data', (chunk: Buffer) => this.#log.append(chunk.toString()));
    child.stdin.on('error', () => {});
    child.on('error', (error) => this.#log.append(error.message));
    this.#child = child;
  }

  /** Records mount points to remove after the containers. */
  noteMountPoints(paths: readonly string[]): void {
    this.#child.stdin?.write(`${JSON.stringify(paths)}\n`);
  }

  /** Answers what could not be removed. */
  async end(): Promise<string[]> {
    const { pid, exitCode, signalCode } = this.#child;
    if (pid === undefined || exitCode !== null || signalCode !== null)
      return [`its guardian ended early: ${this.#log.lastLines(1)[0] ?? signalCode ?? `exit code ${exitCode}`}`];
    const ended = once(this.#child, 'exit');
    this.#child.stdin?.end();
    const late = new AbortController();
    const code = await Promise.race([
      ended.then(([exit]) => exit as number | null),
      sleep(CLEAN_UP_MS, undefined, { signal: late.signal }).catch(() => undefined),
    ]);
    late.abort();
    if (code === undefined) return [`process ${pid} is still removing its containers`];
    return code === 0 ? [] : [this.#log.lastLines(1)[0] ?? `its guardian ended with exit code ${code}`];
  }
}
