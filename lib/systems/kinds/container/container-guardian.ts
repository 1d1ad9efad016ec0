/**
 * A process that removes the containers of a run when its own stdin closes, which happens however the run ends. A client
 * that was killed leaves its container behind. It also checkpoints and restores them, so that no such command is killed with
 * the run, and knows which were restored. Arguments: how their names begin, the kind of runtime, its command. On stdin, one
 * JSON value a line: lists of mount points to be removed after the containers, and requests, each answered by a line on
 * stdout.
 */
import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { gone, removal } from '../../../workers/container/container.js';
import type { RuntimeKind } from '../../../workers/container/container-type.js';
import { removeMountPoints } from '../../../workers/container/mount-points.js';
import { CONTAINER_VARIABLE } from '../../../workers/container/container-variable.js';
import { LineSplitter } from '../../../workers/lines.js';
import { markedProcesses } from '../../../workers/marked-processes.js';
import type { KeepingReply, KeepingRequest } from './container-guarding.js';
import { checkpointOf, endContainer, lastLine, restoreOf, type Said } from './end-container.js';

const TIMEOUT_MS = 60_000;
/** A daemon may still be making one whose client has just been killed. */
const LOOKS = 3;
const BETWEEN_MS = 300;

const [prefix = '', kind = '', program = '', ...options] = process.argv.slice(2);

/** Names of containers that were restored, or may have been. */
const restored = new Set<string>();

/** What is cut short in a checkpoint or a restore leaves the driver out of step with its process: they have no timeout. */
const patient = (argv: readonly string[]): Said =>
  ask(argv, argv[1] === 'checkpoint' || argv[1] === 'restore' ? 0 : TIMEOUT_MS);

function ask(argv: readonly string[], timeout = TIMEOUT_MS): Said {
  const { status, stdout, stderr, error } = spawnSync(program, [...options, ...argv], {
    encoding: 'utf8',
    timeout,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // Both are null where podman did not start.
  const text = (printed: string | null) => printed ?? '';
  return { ok: status === 0, stdout: text(stdout), stderr: error?.message ?? text(stderr) };
}

function names(): string[] {
  const list = kind === 'oci' ? ['list', '--quiet'] : ['ps', '--all', '--format={{.Names}}'];
  const { ok, stdout, stderr } = ask(list);
  if (!ok) throw new Error(stderr);
  return stdout.split('\n').filter((name) => name.startsWith(prefix));
}

/** Null once it is removed; else why it was left. */
function removed(name: string): string | null {
  if (restored.has(name))
    return endContainer(name, {
      podman: patient,
      living: (each) => markedProcesses(`${CONTAINER_VARIABLE}=${each}`),
      wait: (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms),
    });
  const { ok, stderr } = ask(removal({ kind: kind as RuntimeKind, program, options }, name));
  return ok || gone.test(stderr) ? null : `container ${name} could not be removed: ${lastLine(stderr)}`;
}

/** What a request came to, and why it failed; null: it did not. */
function obey({ what, name }: KeepingRequest): string | null {
  if (what === 'remove') return removed(name);
  if (what === 'restore') restored.add(name);
  const { ok, stderr } = patient(what === 'restore' ? restoreOf(name) : checkpointOf(name));
  return ok ? null : lastLine(stderr);
}

function reply(request: KeepingRequest): void {
  const fromNs = Number(process.hrtime.bigint());
  const failure = obey(request);
  const done: KeepingReply = { id: request.id, failure, fromNs, toNs: Number(process.hrtime.bigint()) };
  process.stdout.write(`${JSON.stringify(done)}\n`);
}

async function removeAll(): Promise<void> {
  const all = [...restored].map(removed).filter((why) => why !== null);
  let left = '';
  for (let look = 0; look < LOOKS; look++) {
    const found = names().filter((name) => !restored.has(name));
    if (found.length > 0) {
      const { ok, stderr } = ask(removal({ kind: kind as RuntimeKind, program, options }, ...found));
      left = ok ? '' : stderr;
    }
    if (look + 1 < LOOKS) await sleep(BETWEEN_MS);
  }
  removeMountPoints(mountPoints);
  if (left !== '') all.push(left);
  if (all.length > 0) throw new Error(all.join('; '));
}

// Ctrl-C is the run's to handle.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => {});
const mountPoints: string[] = [];
// Nobody may read any more.
process.stdout.on('error', () => {});
const lines = new LineSplitter((line) => {
  const said = JSON.parse(line) as string[] | KeepingRequest;
  if (Array.isArray(said)) mountPoints.push(...said);
  else reply(said);
});
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
