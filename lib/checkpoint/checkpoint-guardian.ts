/**
 * A process that ends others whose GPU state may have been restored from a checkpoint: each when asked, and all when its
 * own stdin closes, which happens however the run ends. Argument: the folder of the simulated driver, or nothing.
 * On stdin, one JSON value a line: notes of `checkpoint-guarding.ts`, each answered by a line on stdout.
 */
import { readGpuState } from '../native/gpu-state.js';
import { identityOf, ownerState, type ProcessIdentity } from '../environment/process-identity.js';
import { messageOf } from '../errors/message-of.js';
import { LineSplitter } from '../workers/lines.js';
import { localStart } from '../workers/local.js';
import { Controller } from './controller.js';
import { endTarget, type EndingMeans, type TargetEnd } from './end-target.js';
import type { GuardNote, GuardReply } from './guard-notes.js';

interface Guarded {
  identity: ProcessIdentity;
  /** UUID of its GPU; null: not known. */
  gpu: string | null;
  mayBeRestored: boolean;
}

const target = { simulatedDriver: process.argv[2] ?? null };
const controller = new Controller(localStart({ ...process.env }), target);
const guarded = new Map<number, Guarded>();

/** PIDs are reused: a later process with the number is none of ours. */
function isAlive(pid: number): boolean {
  const known = guarded.get(pid);
  return known !== undefined && ownerState(known.identity) === 'alive';
}

const means: EndingMeans = {
  call: (name, pid) => controller.call(name, pid),
  isListed: async (pid) => {
    const gpu = guarded.get(pid)?.gpu ?? null;
    const state = gpu === null ? null : await readGpuState(target, gpu, 'all');
    return state?.processes?.some((process) => process.pid === pid) ?? null;
  },
  isAlive,
  kill: (pid) => {
    // The group too: a target may have started others.
    for (const of of [-pid, pid])
      try {
        process.kill(of, 'SIGKILL');
      } catch {
        // It has just ended.
      }
  },
};

async function end(pid: number): Promise<TargetEnd> {
  const known = guarded.get(pid);
  if (!known) return { ended: false, how: 'this guardian does not know it' };
  const done = await endTarget(pid, known.mayBeRestored, means);
  if (done.ended) guarded.delete(pid);
  return done;
}

async function obey(note: GuardNote): Promise<GuardReply> {
  const { id, pid } = note;
  if (note.what === 'end') return { id, ...(await end(pid)) };
  const known = guarded.get(pid);
  if (note.what === 'restore') {
    if (known) known.mayBeRestored = true;
    return { id, ended: false, how: known ? 'noted' : 'this guardian does not know it' };
  }
  const identity = identityOf(pid);
  if (identity) guarded.set(pid, { identity, gpu: note.gpu, mayBeRestored: false });
  return { id, ended: identity === null, how: identity ? 'noted' : 'it had ended' };
}

async function endAll(): Promise<string[]> {
  const left: string[] = [];
  for (const pid of [...guarded.keys()]) {
    const { ended, how } = await end(pid);
    if (!ended) left.push(`process ${pid} was left alive: ${how}`);
  }
  await controller.stop();
  return left;
}

// Ctrl-C is the run's to handle.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => {});
// Nobody may read any more.
process.stdout.on('error', () => {});
process.stderr.on('error', () => {});

/** One note at a time: a call on one process may hold up another's. */
let work: Promise<unknown> = Promise.resolve();
const lines = new LineSplitter((line) => {
  const note = JSON.parse(line) as GuardNote;
  work = work
    .then(() => obey(note))
    .catch((error: unknown) => ({ id: note.id, ended: false, how: messageOf(error) }))
    .then((reply) => process.stdout.write(`${JSON.stringify(reply)}\n`));
});
process.stdin.on('data', (chunk: Buffer) => lines.push(chunk));
process.stdin.once('close', () => {
  work.then(endAll).then(
    (left) => {
      process.stderr.write(left.map((line) => `${line}\n`).join(''));
      process.exitCode = left.length === 0 ? 0 : 1;
    },
    (error: unknown) => {
      process.stderr.write(`${messageOf(error)}\n`);
      process.exitCode = 1;
    },
  );
});
