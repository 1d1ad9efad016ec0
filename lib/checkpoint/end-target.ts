/**
 * How a process ends whose GPU state may have been restored from a checkpoint. Ending a live restored process has hung
 * whole hosts (cuda-checkpoint issue 53), so it is locked and checkpointed again, and killed once NVML lists it no longer.
 * Every path that ends such a process goes through here.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../errors/message-of.js';
import type { CheckpointAnswer, CheckpointCall } from '../native/addon-types.js';
import { CHECKPOINTED, LOCKED, RUNNING, stateName } from './states.js';
import { stays } from './stays.js';

/** What is needed to end a process; a test has its own. */
export interface EndingMeans {
  /** Rejects if the controller did not answer in time. */
  call: (name: CheckpointCall, pid: number) => Promise<CheckpointAnswer>;
  /** Whether NVML lists the process; null if that is not known. */
  isListed: (pid: number) => Promise<boolean | null>;
  isAlive: (pid: number) => boolean;
  kill: (pid: number) => void;
  /**
   * How long a process that another controller checkpointed must stay so: a restore whose controller was killed may
   * still go on in the driver.
   */
  settleMs: number;
}

export interface TargetEnd {
  /** False: it was left alive. */
  ended: boolean;
  /** What was done, or why it was left. */
  how: string;
}

/** How long NVML may still list a process that is checkpointed. */
const LISTED_MS = 2_000;
const BETWEEN_MS = 50;
/** How long the call of a controller that was killed may go on in the driver. */
const BUSY_MS = 120_000;
/** CUDA_ERROR_ILLEGAL_STATE, also while another controller's call goes on. */
const ILLEGAL_STATE = 401;

/**
 * Ends the process, or leaves it and says why. `mayBeRestored`: a restore was asked for, whatever became of it. A process
 * of which that is false ends as any other.
 */
export async function endTarget(pid: number, mayBeRestored: boolean, means: EndingMeans): Promise<TargetEnd> {
  if (!means.isAlive(pid)) return { ended: true, how: 'it had ended' };
  if (!mayBeRestored) return killed(pid, means, 'killed: it was never restored');
  return endRestored([pid], means);
}

/**
 * Ends processes that share GPU state, as those of one program: all are locked before any is checkpointed, and none is
 * killed before all have left the GPU.
 */
export async function endRestored(pids: readonly number[], means: EndingMeans): Promise<TargetEnd> {
  for (const goal of pids.length > 1 ? ([LOCKED, CHECKPOINTED] as const) : ([CHECKPOINTED] as const))
    for (const pid of pids.filter(means.isAlive)) {
      const left = await broughtTo(goal, pid, means)
        .catch(() => broughtTo(goal, pid, means)) // a call whose controller was killed may have taken effect
        .catch((error: unknown) => `its state is not known: ${messageOf(error)}`);
      if (left !== null && (await stays(() => means.isAlive(pid)))) return { ended: false, how: left };
    }
  const living = pids.filter(means.isAlive);
  for (const pid of living) means.kill(pid);
  return { ended: true, how: living.length > 0 ? 'killed when checkpointed' : 'it ended meanwhile' };
}

function killed(pid: number, means: EndingMeans, how: string): TargetEnd {
  means.kill(pid);
  return { ended: true, how };
}

/** Null once it is locked, or checkpointed and its memory gone; else why it has to be left. */
async function broughtTo(
  goal: typeof LOCKED | typeof CHECKPOINTED,
  pid: number,
  means: EndingMeans,
): Promise<string | null> {
  let succeeded: CheckpointCall | null = null;
  let settled: number | null = null;
  for (const until = Date.now() + BUSY_MS; ; await sleep(BETWEEN_MS)) {
    const { state, ...looked } = await means.call('state', pid);
    if (state === CHECKPOINTED) {
      if (!(await isGone(pid, means))) return 'it is checkpointed, but NVML still lists it';
      settled ??= Date.now() + means.settleMs;
      if (succeeded === 'checkpoint' || Date.now() >= settled) return null;
      continue;
    }
    if (state === LOCKED && goal === LOCKED) return null;
    if (state !== RUNNING && state !== LOCKED)
      return state === null ? `the look at its state returned ${said(looked)}` : `it is ${stateName(state)}`;
    const next = state === RUNNING ? 'lock' : 'checkpoint';
    if (next === succeeded) return `its ${next} returned success, but it is ${stateName(state)}`;
    const answer = await means.call(next, pid);
    if (answer.code === 0) succeeded = next;
    const isBusy = answer.code === ILLEGAL_STATE && Date.now() < until;
    if (answer.code !== 0 && !isBusy) return `it is ${stateName(state)}, and its ${next} returned ${said(answer)}`;
  }
}

/** Where NVML cannot say, the state alone counts. */
async function isGone(pid: number, { isListed }: EndingMeans): Promise<boolean> {
  for (let waited = 0; (await isListed(pid)) === true; waited += BETWEEN_MS) {
    if (waited >= LISTED_MS) return false;
    await sleep(BETWEEN_MS);
  }
  return true;
}

const said = ({ name, code }: Pick<CheckpointAnswer, 'name' | 'code'>): string => `${name} (${code})`;
