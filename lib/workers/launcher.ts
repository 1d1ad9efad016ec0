/**
 * How processes are started, and what differs between the ways to start them: paths of files, and the offset of their
 * clock. Everything above, from workers to metrics, is the same for all. `local.ts` starts them on this machine.
 */
import type { Readable, Writable } from 'node:stream';

export interface Ending {
  /** As text: "ended with exit code 3", "was killed by SIGSEGV". */
  how: string;
  /** Null if it was killed or could not be started. */
  exitCode: number | null;
  signal: NodeJS.Signals | null;
}

export interface LaunchOptions {
  /** The complete environment of the process; nothing is added. */
  environment: NodeJS.ProcessEnv;
  /** Default: the coordinator's own. */
  cwd?: string;
}

/** A process with all processes that it started. */
export interface LaunchedProcess {
  /** As the coordinator's machine sees it; null if it could not be started, or runs elsewhere. */
  readonly pid: number | null;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Never rejects. */
  readonly ended: Promise<Ending>;
  /** Sends a signal to all of them. */
  signal(name: NodeJS.Signals): void;
  /**
   * SIGTERM, then SIGKILL. Resolves even if it cannot end, e.g. because it is stuck in a driver call in the kernel.
   */
  kill(): Promise<void>;
  /** Lets it end by itself for that time, then kills it. */
  endWithin(ms: number): Promise<void>;
}

export interface Launcher {
  readonly name: string;
  /** A command that does not exist gives a process that has ended. */
  start(command: readonly string[], options: LaunchOptions): LaunchedProcess;
  /** The path under which its processes find a file of this machine. */
  pathOf(file: string): string;
  /**
   * In whole nanoseconds. Added to a time of CLOCK_MONOTONIC or CLOCK_MONOTONIC_RAW in such a process, it gives a time
   * here.
   */
  readonly clockOffsetNs: number;
}

/** How the processes of one tenant start. */
export interface ProcessStart {
  launcher: Launcher;
  environment: NodeJS.ProcessEnv;
  /** Put before the command, e.g. `['taskset', '-c', '2']`. */
  argvPrefix: readonly string[];
}
