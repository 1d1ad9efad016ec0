/** A scheduler of nvshare of this run's own. Its guardian ends it however the run ends. */
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BenchError } from '../../../errors/bench-error.js';
import { messageOf } from '../../../errors/message-of.js';
import { UsageError } from '../../../errors/usage-error.js';
import { packageRoot } from '../../../package-root.js';
import { CleanUpGuardian } from '../../process/clean-up-guardian.js';
import type { Finding } from '../../proof/proof-finding.js';
import { daemonFile } from '../mps/recorded-daemon.js';
import { askScheduler, type Turns } from './scheduler-messages.js';

const guardianProgram = join(packageRoot, 'dist/systems/kinds/nvshare/nvshare-guardian.js');

const ANSWER_MS = 5_000;
const POLL_MS = 50;

interface SchedulerOptions {
  /** Name for messages. */
  name: string;
  program: string;
  socket: string;
  turns: Turns;
  path: string;
  /** Contains its record and what it prints. */
  directory: string;
  startTimeoutMs: number;
  signal: AbortSignal | undefined;
}

export class NvshareScheduler {
  readonly #options: SchedulerOptions;
  readonly #guardian: CleanUpGuardian;
  /** The inode of its socket: another scheduler would replace it without a word. */
  #inode: number | null = null;

  private constructor(options: SchedulerOptions) {
    this.#options = options;
    const { program, socket, path, directory } = options;
    this.#guardian = new CleanUpGuardian({
      program: guardianProgram,
      argv: [program, socket, daemonFile(directory), join(directory, 'scheduler.log')],
      environment: { PATH: path },
      what: 'scheduler',
    });
  }

  static async start(options: SchedulerOptions): Promise<NvshareScheduler> {
    const { name, socket } = options;
    const listener = await whoListens(socket);
    if (listener !== null)
      throw new UsageError(
        `Expected nobody to listen on ${socket}, where ${name} starts a scheduler, but received ${listener}: end that scheduler first, whose clients another one would cut off. Two systems of nvshare in one comparison need builds with different sockets.`,
      );
    const scheduler = new NvshareScheduler(options);
    try {
      await scheduler.#begin();
      return scheduler;
    } catch (error) {
      await scheduler.end();
      throw error;
    }
  }

  /** Answers what could not be ended. */
  end(): Promise<string[]> {
    return this.#guardian.end();
  }

  /** A library without its scheduler ends the process, so a process that lives is a client of whoever has the socket. */
  async proof(): Promise<Finding> {
    const { socket, turns } = this.#options;
    const proof = 'the scheduler of this run, and whether it gives turns';
    const advice = 'Start no other scheduler of nvshare meanwhile, and change nothing with nvsharectl.';
    const failed = (detail: string): Finding => ({ proof, passed: false, detail, advice });
    try {
      if ((await inodeOf(socket)) !== this.#inode) return failed(`another scheduler has taken ${socket} over`);
      const isOn = await askScheduler(socket, ANSWER_MS);
      if (isOn === null) return { proof, passed: null, detail: 'it answered in an unknown way' };
      const said = `it listens on ${socket}, turns are ${isOn ? 'on' : 'off'}`;
      return isOn === turns.isOn ? { proof, passed: true, detail: said } : failed(`${said}, not as set`);
    } catch (error) {
      return failed(this.#guardian.failure ?? `nobody answers on ${socket}: ${messageOf(error)}`);
    }
  }

  async #begin(): Promise<void> {
    const { name, socket, turns, startTimeoutMs, signal } = this.#options;
    for (const until = performance.now() + startTimeoutMs; performance.now() < until; await sleep(POLL_MS)) {
      signal?.throwIfAborted();
      const { failure } = this.#guardian;
      if (failure !== null) throw new BenchError('SYSTEM', `The scheduler of ${name} did not start: ${failure}`);
      if ((await whoListens(socket)) === null) continue;
      await askScheduler(socket, ANSWER_MS, turns);
      this.#inode = await inodeOf(socket);
      return;
    }
    throw new BenchError(
      'SYSTEM',
      `Timed out after ${startTimeoutMs / 1_000} s: the scheduler of ${name} does not listen on ${socket}. Name the socket that is compiled into it with socket=FILE.`,
    );
  }
}

const inodeOf = async (path: string): Promise<number> => (await lstat(path)).ino;

/** Null: nobody does. */
async function whoListens(socket: string): Promise<string | null> {
  try {
    await askScheduler(socket, ANSWER_MS);
    return 'an answer';
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    return ['ENOENT', 'ECONNREFUSED'].includes(code) ? null : messageOf(error);
  }
}
