/**
 * A process that deletes the pods of a run when its own stdin closes, which happens however the run ends. Arguments: the selector of
 * their labels, NAME=VALUE in the environment of every kubectl of the run, and the command line of kubectl.
 */
import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { signalMarked } from '../../../workers/marked-processes.js';

const TIMEOUT_MS = 50_000;
const TRIES = 5;

const [selector = '', mark = '', program = '', ...options] = process.argv.slice(2);

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

/** How long the API server may take to create what a client that was killed had asked for. */
const LATER_MS = 2_000;

/** A run that was killed may leave a kubectl that is just creating a pod; one that ends by itself waits for its own. */
async function removeAfterKill(): Promise<string | null> {
  signalMarked(mark, 'SIGKILL');
  removeAll();
  await sleep(LATER_MS);
  return removeAll();
}

// Ctrl-C is the run's to handle.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => {});
let isOver = false;
process.stdin.on('data', () => (isOver = true));
process.stdin.once('close', () => {
  void (isOver ? Promise.resolve(removeAll()) : removeAfterKill()).then((left) => {
    if (left !== null) process.stderr.write(`${left.trim()}\n`);
    process.exit(left === null ? 0 : 1);
  });
});
