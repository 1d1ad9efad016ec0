/** A run that restores processes on the simulated card, and is killed: nothing stays, and no live restored one is ended. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { main } from './cli/command.js';
import { processesIn, type Seen, until, untilNoneIn } from './region-processes.js';
import { ownRegion, temporaryFolder } from './temporary.js';

/** The simulated driver has a file for each process that was restored, until a checkpoint. One that was ended alive keeps it. */
export const restoredIn = (record: string): string[] =>
  readdirSync(record).filter((name) => name.startsWith('restored-'));

export class RestoringRun {
  readonly child: ChildProcess;
  readonly #region: string;
  readonly #record: string;
  readonly #ended: Promise<unknown>;
  #said = '';

  /** `costs`: of the card, beside the region and the record that are the run's own. It works in an empty folder. */
  constructor(args: readonly string[], costs: string) {
    this.#region = ownRegion('restoring');
    this.#record = temporaryFolder('restoring');
    this.child = spawn(process.execPath, [main, ...args], {
      env: {
        PATH: process.env.PATH,
        HOME: this.#record,
        GVB_SIM: `region=${this.#region},record=${this.#record},${costs}`,
      },
      cwd: this.#record,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.child.stderr?.on('data', (chunk: Buffer) => (this.#said += chunk.toString()));
    this.#ended = once(this.child, 'exit');
  }

  get said(): string {
    return this.#said;
  }

  left(): Seen[] {
    return processesIn(this.#region);
  }

  /** Waits until a process is restored, and so much longer. */
  async restores(laterMs = 0): Promise<void> {
    await until(() => {
      if (this.child.exitCode !== null) throw new Error(`The run ended: ${this.#said}`);
      return restoredIn(this.#record)[0];
    });
    await sleep(laterMs);
  }

  async ended(): Promise<number | null> {
    await this.#ended;
    return this.child.exitCode;
  }

  async noneLeft(): Promise<void> {
    await untilNoneIn(this.#region);
  }

  /** Waits until no process is left, and sees that none was ended while it was live and restored. */
  async endsSafely(): Promise<void> {
    await this.noneLeft();
    expect(restoredIn(this.#record)).toEqual([]);
  }

  async isKilled(laterMs: number): Promise<void> {
    await this.restores(laterMs);
    this.child.kill('SIGKILL');
    await this.endsSafely();
  }

  /** Ctrl-C, that many times. */
  async isInterrupted(times: number): Promise<void> {
    await this.restores();
    for (let n = 0; n < times; n++) {
      if (n > 0) await sleep(50);
      this.child.kill('SIGINT');
    }
    await this.#ended;
    await this.endsSafely();
  }
}
