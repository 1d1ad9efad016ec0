/**
 * A process that deletes the pods of a run when its own stdin closes, which happens however the run ends. Arguments: the selector of
 * their labels, and the command line of kubectl.
 */
import { spawnSync } from 'node:child_process';

const TIMEOUT_MS = 50_000;
const TRIES = 5;

const [selector = '', program = '', ...options] = process.argv.slice(2);

/** Does not wait: the API server keeps the order even where the node is lost. */
function removeAll(): string | null {
  let said = '';
  for (let tries = 0; tries < TRIES; tries++) {
    const words = [
      'delete',
      'pods',
      `--selector=${selector}`,
      '--ignore-not-found',
      '--wait=false',
      '--grace-period=5',
    ];
    const { status, stderr, error } = spawnSync(program, [...options, ...words], {
      encoding: 'utf8',
      timeout: TIMEOUT_MS / TRIES,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    if (status === 0) return null;
    said = error?.message ?? stderr;
  }
  return said;
}

// Ctrl-C is the run's to handle.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => {});
process.stdin.resume();
process.stdin.once('close', () => {
  const left = removeAll();
  if (left !== null) process.stderr.write(`${left.trim()}\n`);
  process.exit(left === null ? 0 : 1);
});
