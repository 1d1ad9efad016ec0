/**
 * A process between a run and its MPS control daemon: it starts the daemon in the foreground, and makes it quit when
 * its own stdin closes, which happens however the run ends. Its arguments are the control program and the daemon's
 * further options.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** The daemon gives remaining clients this many seconds. */
const QUIT = 'quit -t 5\n';
const PATIENCE_MS = 10_000;

const [control = '', ...options] = process.argv.slice(2);
const daemon = spawn(control, ['-f', ...options], { stdio: 'ignore', detached: true });
daemon.once('error', (error) => {
  console.error(error.message);
  process.exit(3);
});
daemon.once('exit', (code, signal) => {
  if (code !== 0) console.error(`${control} -f ended with ${signal ?? `exit code ${code}`}`);
  process.exit(code === 0 ? 0 : 4);
});

process.stdin.resume();
process.stdin.once('close', () => {
  const quit = spawn(control, [], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  quit.once('error', killDaemon);
  quit.stdin.on('error', () => {});
  quit.stdin.end(QUIT);
  setTimeout(killDaemon, PATIENCE_MS);
});

/** Ends the server first: without its daemon, nothing else would. */
function killDaemon(): void {
  const pid = daemon.pid;
  if (pid === undefined) return;
  for (const child of childrenOf(pid)) kill(child);
  kill(pid);
}

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
  } catch {
    // The process has ended by itself.
    return [];
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has ended by itself.
  }
}
