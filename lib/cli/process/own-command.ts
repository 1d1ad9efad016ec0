/** Runs a command of this tool as a child, which ends with this process however it ends. */
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { packageRoot } from '../../package-root.js';
import { callerEnvironment } from '../../systems/process/environment.js';
import type { Ending } from '../../workers/launcher.js';
import { local } from '../../workers/local.js';
import { tiedEnvironment } from './tied.js';

const LONGEST_MESSAGE = 4_000;
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface OwnEnding extends Ending {
  /** The last line of its stderr. */
  lastLine: string;
  /** Whether this process was interrupted meanwhile. */
  isInterrupted: boolean;
}

/** Interruptions of this process are the child's: the first lets it write what was measured, the second kills it. */
export async function ownCommand(
  args: readonly string[],
  { stdout, cwd }: { stdout: Writable; cwd?: string },
): Promise<OwnEnding> {
  const command = [process.execPath, join(packageRoot, 'dist/cli/main.js'), ...args];
  const child = local.start(command, {
    environment: tiedEnvironment(callerEnvironment()),
    ...(cwd !== undefined && { cwd }),
  });
  let [interruptions, tail] = [0, ''];
  const passOn = (name: NodeJS.Signals) => child.signal(interruptions++ === 0 ? name : 'SIGKILL');
  for (const name of signals) process.on(name, passOn);
  child.stdin.on('error', () => {}).end();
  child.stdout.on('data', (chunk: Buffer) => stdout.write(chunk));
  child.stderr.on('data', (chunk: Buffer) => {
    process.stderr.write(chunk);
    tail = `${tail}${chunk}`.slice(-LONGEST_MESSAGE);
  });
  const ending = await child.ended;
  for (const name of signals) process.off(name, passOn);
  return { ...ending, lastLine: tail.trimEnd().split('\n').at(-1) ?? '', isInterrupted: interruptions > 0 };
}
