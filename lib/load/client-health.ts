/** Whether the client kept up: an overloaded client measures itself, and its result must say so. */
import { performance } from 'node:perf_hooks';
import { mean, quantileSorted } from 'simple-statistics';
import { nowMs } from './clock.js';

/** How late the client may be on average, as a part of the mean latency. */
const MOST_LATE_SHARE = 0.02;
/** An arrival counts as late from this part of the median latency on; 1 % of them may be late. */
const LATE_ARRIVAL_SHARE = 0.1;
const MOST_LATE_ARRIVALS = 0.01;
/** The part of the time for which the event loop may be busy: in a busier one, answers wait before their time is taken. */
const MOST_BUSY = 0.9;

const BEAT_MS = 20;
/** How late, in milliseconds, a timer of Node fires on an idle machine. */
const TIMER_MS = 1;

/** Measures, at a fixed interval, how long this process takes to react. */
export class Heartbeat {
  /** How late each beat was, in milliseconds; a timer's own millisecond is not counted. */
  readonly lateMs: number[] = [];
  readonly #before = performance.eventLoopUtilization();
  #timer: NodeJS.Timeout | null = null;

  constructor() {
    this.#next();
  }

  /** Ends the beat. Returns the share of time for which the event loop was busy. */
  stop(): number {
    if (this.#timer) clearTimeout(this.#timer);
    return performance.eventLoopUtilization(this.#before).utilization;
  }

  #next(): void {
    const dueMs = nowMs() + BEAT_MS;
    this.#timer = setTimeout(() => {
      this.lateMs.push(Math.max(0, nowMs() - dueMs - TIMER_MS));
      this.#next();
    }, BEAT_MS);
    this.#timer.unref();
  }
}

export interface ClientRecord {
  loop: 'open' | 'closed';
  /**
   * Delays in milliseconds: in an open loop from each arrival's time until it was sent, in a closed loop of the
   * heartbeat.
   */
  lateMs: readonly number[];
  /** Latencies of requests that succeeded, in milliseconds. */
  latencyMs: readonly number[];
  /**
   * Share of time for which the event loop was busy, from 0 to 1. Turns in which an open loop waits for the next
   * arrival count as busy.
   */
  busy: number;
  outOfSockets: number;
}

/** Why the result is about the client instead of the server; null where the client kept up. */
export function clientFault({ loop, lateMs, latencyMs, busy, outOfSockets }: ClientRecord): string | null {
  if (outOfSockets > 0)
    return `${outOfSockets} requests found no free socket or file descriptor on the client: raise ulimit -n, or ask for fewer at a time`;
  if (latencyMs.length === 0) return null;
  if (loop === 'closed' && busy > MOST_BUSY)
    return `the client's event loop was busy for ${percent(busy)} of the time (at most ${percent(MOST_BUSY)} is allowed): lower concurrency`;
  if (lateMs.length === 0) return null;
  const share = mean([...lateMs]) / mean([...latencyMs]);
  if (share > MOST_LATE_SHARE)
    return `the client was late by ${mean([...lateMs]).toPrecision(3)} ms on average, ${percent(share)} of the mean latency (at most ${percent(MOST_LATE_SHARE)} is allowed): ${advice(loop)}`;
  return loop === 'open' ? lateArrivals(lateMs, latencyMs) : null;
}

function lateArrivals(lateMs: readonly number[], latencyMs: readonly number[]): string | null {
  const limitMs =
    LATE_ARRIVAL_SHARE *
    quantileSorted(
      [...latencyMs].sort((a, b) => a - b),
      0.5,
    );
  const late = lateMs.filter((ms) => ms > limitMs).length;
  if (late <= MOST_LATE_ARRIVALS * lateMs.length) return null;
  return `${late} of ${lateMs.length} requests were sent more than ${limitMs.toPrecision(3)} ms late, a tenth of the median latency (at most ${percent(MOST_LATE_ARRIVALS)} may be): ${advice('open')}`;
}

const advice = (loop: 'open' | 'closed'): string =>
  loop === 'open' ? 'lower ratePerSecond, or free processors for the client' : 'free processors for the client';

const percent = (share: number): string => `${Number((100 * share).toPrecision(3))} %`;
