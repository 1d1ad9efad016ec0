/** A user's program at the user's terminal: it has the terminal's input and output, and receives its signals. */
import { spawn } from 'node:child_process';
import { fstatSync } from 'node:fs';
import type { Readable } from 'node:stream';
import type { Ending } from './launcher.js';

export interface ForegroundProgram {
  /** Its standard output, to be forwarded to ours; null if it writes to ours itself. */
  stdout: Readable | null;
  /** An error if it could not be started. */
  started: Promise<Error | null>;
  ended: Promise<Ending>;
  signal: (name: NodeJS.Signals) => void;
}

/**
 * Node makes the pipes that it writes to non-blocking, also for programs that share them: one that does not expect it
 * fails at the first full pipe. For the same reason nothing here may access `process.stdin`.
 */
function isPipe(descriptor: number): boolean {
  try {
    const found = fstatSync(descriptor);
    return found.isFIFO() || found.isSocket();
  } catch {
    // The descriptor is closed, also for the program.
    return false;
  }
}

/** `isRead`: its standard output is piped to us first. It stays in our process group. */
export function startInForeground(
  [command = '', ...args]: readonly string[],
  environment: NodeJS.ProcessEnv,
  isRead: boolean,
): ForegroundProgram {
  const child = spawn(command, args, {
    env: environment,
    stdio: ['inherit', isRead || isPipe(1) ? 'pipe' : 'inherit', isPipe(2) ? 'pipe' : 'inherit'],
    shell: false,
  });
  child.stdout?.pipe(process.stdout, { end: false });
  child.stderr?.pipe(process.stderr, { end: false });
  const started = new Promise<Error | null>((resolve) => {
    child.once('spawn', () => resolve(null));
    child.once('error', resolve);
  });
  const ended = new Promise<Ending>((resolve) => {
    child.once('error', (error) =>
      resolve({ how: `could not be started (${error.message})`, exitCode: null, signal: null }),
    );
    // Waits until its whole output has been read. A child that holds the pipe open belongs to the program.
    child.once('close', (exitCode, signal) => resolve({ how: signal ?? `exit code ${exitCode}`, exitCode, signal }));
  });
  return { stdout: child.stdout, started, ended, signal: (name) => void child.kill(name) };
}
