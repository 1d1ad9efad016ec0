/**
 * How processes are started, and what differs between the ways to start them: paths of files, and the offset of their
 * clock. Everything above, from workers to metrics, is the same for all. `local.ts` starts them on this machine.
 */
import type { Readable, Writable } from 'node:stream';
import type { Container } from './container/container.js';
import type { ContainerProgram } from './container/container-program.js';

export interface Ending {
  /** The end as text, e.g. "ended with exit code 3" or "was killed by SIGSEGV". */
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

/** A container that holds a program, as far as it can be seen from here. */
export type RemotePlace = Pick<Container, 'name' | 'id' | 'first' | 'find'>;

/** A command that starts a process somewhere else, as the client of a container runtime does. */
export interface RemoteCommand {
  argv: readonly string[];
  environment: NodeJS.ProcessEnv;
  /** What was started there. */
  where: () => RemotePlace;
  /** Whether its processes are below the command itself; those of a daemon are not. */
  isParent: boolean;
  /** Ends and removes what is left of it; answers why it could not. */
  remove: () => Promise<string | null>;
}

/** Starts programs elsewhere so that they can be checkpointed and restored there. */
export interface RestorableStart {
  /** Why none can, with what to do; null: they can. */
  refusal: () => Promise<string | null>;
  /** The same for those with state on the GPU. */
  gpuRefusal: () => Promise<string | null>;
  start: (command: readonly string[], options: LaunchOptions) => ContainerProgram;
}

/** A process with everything that it started. */
export interface LaunchedProcess {
  /** The PID on the coordinator's machine; null if the process could not be started, or runs elsewhere. */
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
  /** Takes the place of `start` where something else keeps the process; absent where `start` can start the command itself. */
  remote?(command: readonly string[], options: LaunchOptions): RemoteCommand;
  /**
   * Runs a module of this package in the place that an environment names, which has it, and answers what it printed; null if it
   * failed. Absent where processes can be looked at from here.
   */
  runBeside?(module: string, args: readonly string[], options: LaunchOptions): Promise<string | null>;
  /** Absent where what `remote` starts can never be checkpointed. */
  readonly restorable?: RestorableStart;
  /** Where a process that it starts finds a file of this machine. */
  pathOf(file: string): string;
  /**
   * Offset in whole nanoseconds. Added to a time of CLOCK_MONOTONIC or CLOCK_MONOTONIC_RAW in such a process, it gives
   * a time here.
   */
  readonly clockOffsetNs: number;
}

/** How the processes of one tenant start. */
export interface ProcessStart {
  launcher: Launcher;
  environment: NodeJS.ProcessEnv;
  /** Put before the command, e.g. `['taskset', '-c', '2']`. */
  argvPrefix: readonly string[];
  /** UUID of the GPU that the process measures whatever it is asked to. Absent: the one that it is asked to. */
  device?: string;
}
