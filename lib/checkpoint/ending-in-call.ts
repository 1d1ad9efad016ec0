/** Whether a call on a process has ended it. */
import type { Ending } from '../workers/launcher.js';
import { type Worker, WorkerEnded } from '../workers/worker.js';

/** Kills a process that within this neither answers nor ends. */
const ANSWER_MS = 10_000;

/** How it ended; null if it answers, which one that is ending does not. */
export async function endingInCall(worker: Worker): Promise<Ending | null> {
  try {
    await worker.request('clock', {}, { deadlineMs: ANSWER_MS });
    return null;
  } catch (error) {
    return error instanceof WorkerEnded ? worker.exit : null;
  }
}
