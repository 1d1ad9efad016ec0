/**
 * A process between a run and its MPS control daemon: it starts the daemon in the foreground, and makes it quit when
 * its own stdin closes, which happens however the run ends. Its arguments are the control program, the file that records
 * the daemon's identity, and the daemon's further options.
 */
import { spawn } from 'node:child_process';
import { killDaemon, recordDaemon } from './recorded-daemon.js';

/** The daemon gives remaining clients this many seconds. */
const QUIT = 'quit -t 5\n';
const PATIENCE_MS = 10_000;

const [control = '', record = '', ...options] = process.argv.slice(2);
const daemon = spawn(control, ['-f', ...options], { stdio: 'ignore', detached: true });
if (daemon.pid !== undefined) recordDaemon(record, daemon.pid);
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
  quit.once('error', endDaemon);
  quit.stdin.on('error', () => {});
  quit.stdin.end(QUIT);
  setTimeout(endDaemon, PATIENCE_MS);
});

function endDaemon(): void {
  if (daemon.pid !== undefined) killDaemon(daemon.pid);
}
