/** Targets that work without a break while they are checkpointed and restored, for CKPT-004. */
import { setTimeout as sleep } from 'node:timers/promises';
import { NO_UTILITY } from '../../checkpoint/utility-name.js';
import type { CheckpointVerified, PcieLink, Requests } from '../../native/addon-types.js';
import { loadAddon } from '../../native/load.js';
import { median } from '../../stats/median.js';
import type { Worker } from '../../workers/worker.js';
import type { MeasureContext } from '../core/metric.js';
import { NS_PER_MS } from '../core/units.js';
import { BenchError } from '../../errors/bench-error.js';
import { messageOf } from '../../errors/message-of.js';
import { hasRoom, type NoRoom, pilot } from './held-targets.js';
import { type Caller, deadlineFor, inStudy, type Move, type TargetStudy } from './target-study.js';

/** A request follows the previous one at once; the time of one is the resolution of a pause. */
const WORK = { periodNs: 0, kernels: 20, rounds: 0, kernelNs: 100_000, bytes: 65_536, graceNs: 0 };
/** Time for the calibration of the work, before the first request. */
const LEAD_MS = 500;
const BEFORE_MS = 300;
/** Requests begin for so long; the last one may last longer. */
const WINDOW_MS = 2_000;

/** Times in ns of the addon's `now`. */
export interface Paused {
  /** When the host had the result of each request, in order. */
  resultsNs: number[];
  move: Move;
  verified: CheckpointVerified;
}

interface Pauses {
  paused: Paused[];
  /** One more target, moved by the cuda-checkpoint program; or why there is none. */
  byUtility: Paused | { missing: string };
  link: PcieLink;
}

/** Checkpoints so many fresh targets of that size, one after the other. */
export const pausesOf = (context: MeasureContext, bytes: number, targets: number): Promise<Pauses | NoRoom> =>
  inStudy(context, async (study) => {
    const { room, link } = await pilot(context, study);
    if (!hasRoom(bytes, room)) return { room };
    const paused: Paused[] = [];
    for (let i = 0; i < targets; i++) {
      context.progress(`target ${i + 1} of ${targets}`, i / targets);
      paused.push(await freshPaused(study, bytes));
    }
    return { paused, link, byUtility: await pausedByUtility(study, bytes) };
  });

async function pausedByUtility(study: TargetStudy, bytes: number): Promise<Pauses['byUtility']> {
  const utility = await study.utility();
  if (utility === null) return { missing: NO_UTILITY };
  return freshPaused(study, bytes, utility).catch((error: unknown) => {
    // A program that cannot do it says nothing of the driver.
    if (error instanceof BenchError && error.code === 'INVALID_RESULT') return { missing: messageOf(error) };
    throw error;
  });
}

async function freshPaused(study: TargetStudy, bytes: number, caller?: Caller): Promise<Paused> {
  const worker = await study.hold(bytes);
  try {
    return await pausedOnce(study, worker, bytes, caller);
  } finally {
    await worker.kill();
  }
}

async function pausedOnce(study: TargetStudy, worker: Worker, bytes: number, caller?: Caller): Promise<Paused> {
  const startAtNs = loadAddon().now() + LEAD_MS * NS_PER_MS;
  const request = { ...WORK, startAtNs: worker.theirsNs(startAtNs), windowNs: WINDOW_MS * NS_PER_MS };
  const working = worker.request('requests', request, { deadlineMs: 2 * deadlineFor(bytes) }) as Promise<Requests>;
  working.catch(() => undefined); // awaited below
  await sleep(LEAD_MS + BEFORE_MS);
  const move = await study.move(worker, bytes, undefined, caller);
  const { arrivedNs, latencyNs } = await working;
  const resultsNs = arrivedNs.map((arrived, i) => startAtNs + arrived + (latencyNs[i] as number));
  return { resultsNs, move, verified: await study.verify(worker, bytes) };
}

/** What the target noticed, in ms. Null if there is no result before or after. */
export function pauseIn({ resultsNs, move }: Paused) {
  const after = resultsNs.findIndex((ns) => ns > move.unlock.fromNs);
  const [last, first] = [resultsNs[after - 1], resultsNs[after]];
  if (last === undefined || first === undefined) return null;
  const gaps = resultsNs.slice(1).map((ns, i) => (ns - (resultsNs[i] as number)) / NS_PER_MS);
  return {
    pauseMs: (first - last) / NS_PER_MS,
    unlockToResultMs: (first - move.unlock.fromNs) / NS_PER_MS,
    longestGapMs: Math.max(...gaps),
    usualGapMs: median(gaps).value,
  };
}

/** Results that came while the memory was away. */
export const resultsAway = ({ resultsNs, move }: Paused): number =>
  resultsNs.filter((ns) => ns > move.checkpoint.toNs && ns < move.unlock.fromNs).length;
