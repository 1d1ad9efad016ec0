/**
 * A process that ends others whose GPU state may have been restored from a checkpoint: each when asked, and all when its
 * own stdin closes, which happens however the run ends. Argument: the folder of the simulated driver, or nothing.
 * On stdin, one JSON value a line: notes of `checkpoint-guarding.ts`, each answered by a line on stdout.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { readGpuState } from '../native/gpu-state.js';
import { identityOf, ownerState, type ProcessIdentity } from '../environment/process-identity.js';
import { messageOf } from '../errors/message-of.js';
import { hasEnded, processesBelow } from '../environment/process-tree.js';
import { LineSplitter } from '../workers/lines.js';
import { localStart } from '../workers/local.js';
import { Controller } from './controller.js';
import { endRestored, endTarget, type EndingMeans, type TargetEnd } from './end-target.js';
import type { GuardNote, GuardReply } from './guard-notes.js';

interface Guarded {
  identity: ProcessIdentity;
  /** UUID of its GPU; null: not known. */
  gpu: string | null;
  mayBeRestored: boolean;
  /** Processes below it that may be restored; it is then their keeper, which has no GPU state itself. */
  below: Set<number>;
}

const target = { simulatedDriver: process.argv[2] ?? null };
const controller = new Controller(localStart({ ...process.env }), target);
/** How long processes that were killed may take to end, and how often they are. */
const STUCK_MS = 10_000;
const KILL_MS = 20;
/** A restore that goes on has changed its state by then, or NVML lists it. */
const SETTLE_MS = 3_000;

const guarded = new Map<number, Guarded>();
/** Processes below a guarded one. */
const members = new Map<number, Pick<Guarded, 'identity' | 'gpu'>>();
const knownOf = (pid: number) => guarded.get(pid) ?? members.get(pid);

/** PIDs are reused: a later process with the number is none of ours. */
function isAlive(pid: number): boolean {
  const known = knownOf(pid);
  return known !== undefined && ownerState(known.identity) === 'alive' && !hasEnded(pid);
}

const means: EndingMeans = {
  call: (name, pid) => controller.call(name, pid),
  isListed: async (pid) => {
    const gpu = knownOf(pid)?.gpu ?? null;
    const state = gpu === null ? null : await readGpuState(target, gpu, 'all');
    return state?.processes?.some((process) => process.pid === pid) ?? null;
  },
  isAlive,
  settleMs: SETTLE_MS,
  kill: (pid) => {
    // The group too: a target may have started others.
    for (const of of [-pid, pid]) signal(of, 'SIGKILL');
  },
};

function signal(of: number, name: NodeJS.Signals): void {
  try {
    process.kill(of, name);
  } catch {
    // It has just ended.
  }
}

async function end(pid: number): Promise<TargetEnd> {
  const known = guarded.get(pid);
  if (!known) return { ended: false, how: 'this guardian does not know it' };
  // A rotation stops them while they are checkpointed.
  for (const each of [pid, ...known.below]) if (isAlive(each)) signal(each, 'SIGCONT');
  const done = await (known.below.size > 0 ? endTree(pid, known) : endTarget(pid, known.mayBeRestored, means));
  if (done.ended) guarded.delete(pid);
  return done;
}

/** Ends all processes below the keeper, which then ends by itself. */
async function endTree(keeper: number, { below }: Guarded): Promise<TargetEnd> {
  const done = await endRestored([...below], means);
  if (!done.ended) return done;
  // Repeated, because one may have started another just before it was killed.
  for (const until = Date.now() + STUCK_MS; Date.now() < until && isAlive(keeper); await sleep(KILL_MS)) {
    const left = processesBelow(keeper);
    if (left.length === 0) return done;
    for (const pid of left) means.kill(pid);
  }
  return done;
}

/** False if one of them has ended. */
function guardTree({ pid, gpu, restored }: Extract<GuardNote, { what: 'guard-tree' }>): boolean {
  const keeper = identityOf(pid);
  const found = restored.flatMap((each) => identityOf(each) ?? []);
  if (keeper === null || found.length < restored.length) return false;
  for (const identity of found) members.set(identity.pid, { identity, gpu });
  const below = new Set([...(guarded.get(pid)?.below ?? []), ...restored]);
  guarded.set(pid, { identity: keeper, gpu, mayBeRestored: true, below });
  return true;
}

async function obey(note: GuardNote): Promise<GuardReply> {
  const { id, pid } = note;
  if (note.what === 'end') return { id, ...(await end(pid)) };
  if (note.what === 'guard-tree')
    return { id, ended: false, how: guardTree(note) ? 'noted' : 'one of its processes has ended' };
  const known = guarded.get(pid);
  if (note.what === 'restore') {
    if (known) known.mayBeRestored = true;
    return { id, ended: false, how: known ? 'noted' : 'this guardian does not know it' };
  }
  const identity = identityOf(pid);
  if (identity) guarded.set(pid, { identity, gpu: note.gpu, mayBeRestored: false, below: new Set() });
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
