/**
 * A process that runs nvshare's scheduler and ends it when its own stdin closes, which happens however the run ends. Arguments: the
 * program of the scheduler, the socket that it makes, the file that records its identity, and that of what it prints.
 */
import { spawn } from 'node:child_process';
import { existsSync, lstatSync, openSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { recordDaemon } from '../mps/recorded-daemon.js';

/** How long it may take to end. */
const PATIENCE_MS = 5_000;

const [program = '', socket = '', record = '', log = ''] = process.argv.slice(2);
const folder = dirname(socket);
const hadFolder = existsSync(folder);
let isOver = false;

const printed = openSync(log, 'w', 0o600);
const scheduler = spawn(program, [], { stdio: ['ignore', printed, printed], detached: true });
if (scheduler.pid !== undefined) recordDaemon(record, scheduler.pid);
scheduler.once('error', (error) => void end(error.message));
scheduler.once('exit', (code, signal) => {
  if (isOver) return void end(null);
  const last = readFileSync(log, 'utf8').trim().split('\n').at(-1);
  void end(`${program} ended with ${signal ?? `exit code ${code}`}. ${last}`);
});

// Ctrl-C is the run's to handle.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => {});
process.stdin.resume();
process.stdin.once('close', () => {
  isOver = true;
  scheduler.kill();
  setTimeout(() => scheduler.kill('SIGKILL'), PATIENCE_MS);
});

/** The scheduler leaves its socket behind. One that somebody listens on is another's. */
async function end(failure: string | null): Promise<never> {
  try {
    if (lstatSync(socket).isSocket() && (await isDead())) rmSync(socket);
    if (!hadFolder) rmdirSync(folder);
  } catch {
    // Not made, or removed, or somebody else's by now.
  }
  if (failure !== null) process.stderr.write(`${failure}\n`);
  process.exit(failure === null ? 0 : 4);
}

const isDead = (): Promise<boolean> =>
  new Promise((resolve) => {
    const client = connect(socket, () => resolve(false));
    client.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'ECONNREFUSED'));
  });
