/** The clock of a pod's machine against ours, by asking a worker there. */
import { loadAddon } from '../../../native/load.js';
import type { Worker } from '../../../workers/worker.js';

const ASKED = 5;
const DEADLINE_MS = 30_000;

/** Nanoseconds to add to a time there; 0 where the difference is below what could be seen, as on one machine. */
export async function clockOffsetOf(worker: Pick<Worker, 'request'>, now = () => loadAddon().now()): Promise<number> {
  let best = { roundTripNs: Number.POSITIVE_INFINITY, offsetNs: 0 };
  for (let asked = 0; asked < ASKED; asked++) {
    const before = now();
    const { nowNs } = (await worker.request('clock', {}, { deadlineMs: DEADLINE_MS })) as { nowNs: number };
    const roundTripNs = now() - before;
    if (roundTripNs < best.roundTripNs) best = { roundTripNs, offsetNs: before + roundTripNs / 2 - nowNs };
  }
  return Math.abs(best.offsetNs) <= best.roundTripNs / 2 ? 0 : Math.round(best.offsetNs);
}
