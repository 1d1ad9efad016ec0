/**
 * A process that removes the containers of a run when its own stdin closes, which happens however the run ends. A client
 * that was killed leaves its container behind. Arguments: how their names begin, the kind of runtime, its command. On stdin:
 * lists of mount points to be removed after the containers, a line each.
 */
import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { removal } from '../../../workers/container/container.js';
import type { RuntimeKind } from '../../../workers/container/container-type.js';
import { removeMountPoints } from '../../../workers/container/mount-points.js';
import { LineSplitter } from '../../../workers/lines.js';

const TIMEOUT_MS = 60_000;
/** A daemon may still be making one whose client has just been killed. */
const LOOKS = 3;
const BETWEEN_MS = 300;

const [prefix = '', kind = '', program = '', ...options] = process.argv.slice(2);

function ask(argv: readonly string[]): { ok: boolean; stdout: string; stderr: string } {
  const { status, stdout, stderr, error } = spawnSync(program, [...options, ...argv], {
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return { ok: status === 0, stdout, stderr: error?.message ?? stderr };
}

function names(): string[] {
  const list = kind === 'oci' ? ['list', '--quiet'] : ['ps', '--all', '--format={{.Names}}'];
  const { ok, stdout, stderr } = ask(list);
  if (!ok) throw new Error(stderr);
  return stdout.split('\n').filter((name) => name.startsWith(prefix));
}

async function removeAll(): Promise<void> {
  let left = '';
  for (let look = 0; look < LOOKS; look++) {
    const found = names();
    if (found.length > 0) {
      const { ok, stderr } = ask(removal({ kind: kind as RuntimeKind, program, options }, ...found));
      left = ok ? '' : stderr;
    }
    if (look + 1 < LOOKS) await sleep(BETWEEN_MS);
  }
  removeMountPoints(mountPoints);
  if (left !== '') throw new Error(left);
}

// Ctrl-C is the run's to handle.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => {});
const mountPoints: string[] = [];
const lines = new LineSplitter((line) => mountPoints.push(...(JSON.parse(line) as string[])));
process.stdin.on('data', (chunk: Buffer) => lines.push(chunk));
process.stdin.once('close', () => {
  removeAll().then(
    () => process.exit(0),
    (error: Error) => {
      process.stderr.write(`${error.message.trim()}\n`);
      process.exit(1);
    },
  );
});
