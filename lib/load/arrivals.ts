/** When requests are sent: at random times that no answer delays (open loop), or one after another (closed loop). */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '../stats/random.js';
import { nowMs } from './clock.js';

/** Sends one request and settles after its answer. It must not reject: a failed request is a result. */
export type Send = (index: number, scheduledMs: number) => Promise<void>;

/**
 * How early a timer is set: Node's have whole milliseconds and may fire one late. The rest is waited for turn by turn.
 */
const TIMER_SLACK_MS = 2;

/**
 * The times of a Poisson process in milliseconds from its start, ascending. The gaps are exponential with the mean
 * 1000 / `ratePerSecond`; the same seed gives the same times.
 */
export function poissonTimesMs(count: number, ratePerSecond: number, seed: number): Float64Array {
  const random = seededRandom(seed);
  const times = new Float64Array(count);
  let atMs = 0;
  for (let index = 0; index < count; index++) {
    // random() is below 1, so the logarithm is finite.
    atMs += (-Math.log(1 - random()) * 1_000) / ratePerSecond;
    times[index] = atMs;
  }
  return times;
}

/**
 * Sends each request at its time, whatever became of those before it: a slow server meets the same load as a fast one.
 * A loop that waited for answers would leave out the requests that a slow server makes others wait for ("coordinated
 * omission", G. Tene). An abort sends no further request. Resolves when all that were sent have settled.
 */
export async function openLoop(timesMs: Float64Array, send: Send, signal: AbortSignal): Promise<void> {
  const startMs = nowMs();
  const sent: Promise<void>[] = [];
  for (const [index, timeMs] of timesMs.entries()) {
    const scheduledMs = startMs + timeMs;
    await until(scheduledMs, signal);
    if (signal.aborted) break;
    sent.push(send(index, scheduledMs));
  }
  await Promise.all(sent);
}

/** Keeps `concurrency` requests under way until `count` were sent: each answer is followed by the next request. */
export async function closedLoop(count: number, concurrency: number, send: Send, signal: AbortSignal): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < count && !signal.aborted) await send(next++, nowMs());
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, count) }, lane));
}

/**
 * Waits until a time. At least one turn of the event loop passes, so that answers are read however many arrivals are
 * overdue.
 */
async function until(dueMs: number, signal: AbortSignal): Promise<void> {
  const restMs = Math.floor(dueMs - nowMs() - TIMER_SLACK_MS);
  // An abort rejects it; the caller looks at the signal.
  if (restMs > 0) await sleep(restMs, undefined, { signal }).catch(() => {});
  do await nextTurn();
  while (nowMs() < dueMs && !signal.aborted);
}
