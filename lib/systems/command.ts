/** Commands of a custom system: an argument list, never a shell. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { BoundedLog } from '../workers/lines.js';
import { ProcessGroup } from '../workers/process-group.js';

export interface CommandOptions {
  environment: NodeJS.ProcessEnv;
  cwd: string;
  timeoutMs?: number;
  signal?: AbortSignal | undefined;
  /** What it reads from stdin. Default: nothing. */
  input?: string;
}

export interface Finished {
  /** Null where it did not start, was killed, or ran past its time. */
  exit: number | null;
  /** In words, e.g. "ended with exit code 3". */
  how: string;
  /** The end of stdout and stderr together. */
  output: string;
}

const TIMEOUT_MS = 60_000;

export async function runCommand(argv: readonly string[], options: CommandOptions): Promise<Finished> {
  options.signal?.throwIfAborted();
  const [command = '', ...args] = argv;
  const { environment: env, cwd, timeoutMs = TIMEOUT_MS, input = '' } = options;
  const child = spawn(command, args, { env, cwd, stdio: 'pipe', detached: true, shell: false });
  // A command that does not read its input may be gone before it is written.
  child.stdin.on('error', () => {}).end(input);
  const group = new ProcessGroup(child);
  const log = new BoundedLog();
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => log.append(chunk.toString()));
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), timeoutMs);
  const stop = options.signal ? AbortSignal.any([options.signal, late.signal]) : late.signal;
  const stopped = once(stop, 'abort').then(() => null);
  try {
    const how = await Promise.race([group.ended, stopped]);
    if (how !== null) return { exit: child.exitCode, how, output: log.text };
    await group.kill();
    options.signal?.throwIfAborted();
    return { exit: null, how: `ran past its ${timeoutMs / 1000} s and was killed`, output: log.text };
  } finally {
    clearTimeout(timer);
  }
}

/** Throws where it does not end with exit code 0. `what` names it, e.g. `setup of mine`. */
export async function mustSucceed(what: string, argv: readonly string[], options: CommandOptions): Promise<void> {
  const { exit, how, output } = await runCommand(argv, options);
  if (exit === 0) return;
  const last = output.trim().split('\n').at(-1);
  throw new Error(`${what}: ${argv.join(' ')} ${how}${last ? `: ${last}` : ''}.`);
}
