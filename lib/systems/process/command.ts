/** Commands of a custom system: argument lists, never run by a shell. */
import { once } from 'node:events';
import { BenchError } from '../../errors/bench-error.js';
import { BoundedLog } from '../../workers/lines.js';
import { local } from '../../workers/local.js';

export interface CommandOptions {
  environment: NodeJS.ProcessEnv;
  cwd: string;
  timeoutMs?: number;
  signal?: AbortSignal | undefined;
  /** Text for its stdin. Default: nothing. */
  input?: string;
  /** How much of its stdout is kept. Default: as of the output. */
  stdoutLimit?: number;
}

export interface Finished {
  /** Null if it did not start, was killed, or timed out. */
  exit: number | null;
  /** How the command ended, as text, e.g. "ended with exit code 3". */
  how: string;
  /** The end of its combined stdout and stderr. */
  output: string;
  /** Whether it printed more than that. */
  isCut: boolean;
  /** The end of its stdout alone. */
  stdout: string;
}

const TIMEOUT_MS = 60_000;

export async function runCommand(argv: readonly string[], options: CommandOptions): Promise<Finished> {
  options.signal?.throwIfAborted();
  const { environment, cwd, timeoutMs = TIMEOUT_MS, input = '', stdoutLimit } = options;
  const process = local.start(argv, { environment, cwd });
  // A command that does not read its input may end before it is written.
  process.stdin.on('error', () => {}).end(input);
  const log = new BoundedLog();
  const stdout = new BoundedLog(stdoutLimit);
  for (const stream of [process.stdout, process.stderr])
    stream.on('data', (chunk: Buffer) => log.append(chunk.toString()));
  process.stdout.on('data', (chunk: Buffer) => stdout.append(chunk.toString()));
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), timeoutMs);
  const stop = options.signal ? AbortSignal.any([options.signal, late.signal]) : late.signal;
  const stopped = once(stop, 'abort').then(() => null);
  try {
    const ending = await Promise.race([process.ended, stopped]);
    const printed = () => ({ output: log.text, isCut: log.isCut, stdout: stdout.text });
    if (ending !== null) return { exit: ending.exitCode, how: ending.how, ...printed() };
    await process.kill();
    options.signal?.throwIfAborted();
    return { exit: null, how: `ran past its ${timeoutMs / 1000} s and was killed`, ...printed() };
  } finally {
    clearTimeout(timer);
  }
}

/** Throws unless it ends with exit code 0. `what` names it, e.g. `setup of mine`. */
export async function mustSucceed(what: string, argv: readonly string[], options: CommandOptions): Promise<void> {
  const { exit, how, output } = await runCommand(argv, options);
  if (exit === 0) return;
  const last = output.trim().split('\n').at(-1);
  throw new BenchError('SYSTEM', `${what}: ${argv.join(' ')} ${how}${last ? `: ${last}` : ''}.`);
}
