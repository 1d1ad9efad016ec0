/** The load of one run: its requests as lines of a file, and the numbers of its metrics. */
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../errors/message-of.js';
import { OUT_OF_SOCKETS } from '../../load/request-failure.js';
import type { LoadPlan } from '../../load/load-plan.js';
import type { LoadErrors, LoadResult } from '../../load/load-result.js';
import { runPlan } from '../../load/run-load.js';
import type { RequestRecord } from '../../load/request-record.js';
import { summarise } from '../../stats/summary.js';
import { type LoadKey, loadMetrics, ofLoad } from '../metrics/load-metrics.js';
import type { Reading } from '../metrics/reading.js';
import { RunLines } from '../program/run-file.js';
import type { RunPhase } from '../program/run-phases.js';

type LoadReadings = Readonly<Record<LoadKey, Reading>>;

export interface ServedRequests {
  readings: LoadReadings;
  /** Fields for the row of the run in the details. */
  row: Record<string, unknown>;
  /** The time of the load; null if no request was sent. */
  phase: RunPhase | null;
  notes: string[];
}

const NS_PER_MS = 1e6;
const DYING_MS = 1_000;
const microseconds = (ms: number): number => Math.round(1e3 * ms) / 1e3;

export class ServedLoad {
  readonly #plan: LoadPlan;
  readonly #lines: RunLines | null;
  readonly #onRequest: (record: RequestRecord) => void;
  #result: LoadResult | null = null;
  #failure = 'its load was not sent';
  #lastFailed = false;
  #phase: { fromMs: number; toMs: number } | null = null;

  /**
   * Prepares a load. `path`: the file with a line for each request; null keeps none. `onRequest` is called after each
   * of them.
   */
  constructor(plan: LoadPlan, path: string | null, onRequest: (record: RequestRecord) => void = () => {}) {
    this.#plan = plan;
    this.#onRequest = onRequest;
    this.#lines = path === null ? null : new RunLines(path);
  }

  /** The result of the load; null where it was not sent, or could not be measured. */
  get result(): LoadResult | null {
    return this.#result;
  }

  /** Sends the load. Never rejects. `fromNs`: when the program began, from which times in the file count. */
  async run(signal: AbortSignal, fromNs: number): Promise<void> {
    const fromMs = fromNs / NS_PER_MS;
    try {
      const onRequest = (record: RequestRecord) => this.#note(record, fromMs);
      this.#result = await runPlan(this.#plan, { signal, onRequest });
      // A program that just died refuses the rest of its requests faster than its end is reported.
      if (this.#lastFailed) await sleep(DYING_MS, undefined, { signal }).catch(() => {});
    } catch (error) {
      this.#failure = messageOf(error);
    }
  }

  async finish(): Promise<ServedRequests> {
    const note = (await this.#lines?.close()) ?? null;
    const phase = this.#phase;
    return {
      readings: this.#result ? readingsOf(this.#result, this.#plan) : all({ missing: this.#failure }),
      row: this.#result ? rowOf(this.#result) : {},
      phase: phase && { name: 'load', fromNs: NS_PER_MS * phase.fromMs, toNs: NS_PER_MS * phase.toMs },
      notes: [...(note === null ? [] : [note]), ...(this.#result ? notesOf(this.#result, this.#plan) : [])],
    };
  }

  #note(record: RequestRecord, fromMs: number): void {
    const { scheduledMs, endMs, failure } = record;
    this.#lastFailed = failure !== null;
    this.#phase = {
      fromMs: Math.min(this.#phase?.fromMs ?? scheduledMs, scheduledMs),
      toMs: Math.max(this.#phase?.toMs ?? endMs, endMs),
    };
    this.#lines?.write(`${JSON.stringify(lineOf(record, fromMs))}\n`);
    this.#onRequest(record);
  }
}

/** The line of a request in the file. Times are milliseconds since the program began. */
function lineOf({ scheduledMs, sentMs, endMs, failure, tokens, finishReason }: RequestRecord, fromMs: number) {
  const since = (ms: number) => microseconds(ms - fromMs);
  return {
    scheduledMs: since(scheduledMs),
    sentMs: since(sentMs),
    ...(tokens && { firstMs: since(tokens.firstMs), lastMs: since(tokens.lastMs) }),
    endMs: since(endMs),
    ...(tokens && { id: tokens.id, usageTokens: tokens.usageTokens, gapsMs: tokens.gapsMs.map(microseconds) }),
    ...(finishReason !== null && { finishReason }),
    error: failure && { reason: failure.reason, message: failure.message },
  };
}

const all = (reading: Reading): LoadReadings => ofLoad(() => reading);

/**
 * Numbers of a load's metrics. There are none if the client was overloaded or requests failed: a server that fails its
 * slowest requests looks faster.
 */
export function readingsOf(result: LoadResult, { requests }: Pick<LoadPlan, 'requests'>): LoadReadings {
  const { errors, invalid, succeeded, completed } = result;
  // These numbers describe the client, not the server.
  const isOfClient = succeeded > 0 || errors.some(({ reason }) => reason === OUT_OF_SOCKETS);
  if (invalid !== null && isOfClient) return all({ missing: invalid, status: 'invalid' });
  if (!completed)
    return all({ missing: `its load ended after ${result.requests} of ${requests} requests`, status: 'failed' });
  const failed = result.requests - succeeded;
  if (failed === 0) return ofLoad((key) => loadMetrics[key].of(result));
  const share = loadMetrics.errors.of(result);
  return { ...all({ missing: errorsText(errors, failed, result.requests), status: 'failed' }), errors: share };
}

function errorsText(errors: readonly LoadErrors[], failed: number, requests: number): string {
  const [first] = errors;
  const most = first === undefined ? '' : `: ${errors.length > 1 ? 'most often ' : ''}${errorText(first)}`;
  return `${failed} of ${requests} requests failed${most}`;
}

const errorText = ({ reason, message }: LoadErrors): string =>
  message.startsWith(reason) ? message : `${reason} (${message})`;

const count = (samples: readonly number[]) => {
  const stats = summarise(samples);
  return (
    stats && { count: stats.count, p50: stats.p50, p90: stats.p90, p95: stats.p95, p99: stats.p99, max: stats.max }
  );
};

function rowOf(result: LoadResult): Record<string, unknown> {
  const { requests, succeeded, errors, warmupErrors, seconds, ends, unknown, clientBusy, invalid } = result;
  const { tokens, tokensBy, tokensDoubt } = result;
  return {
    requests,
    succeeded,
    errors,
    ...(warmupErrors.length > 0 && { warmupErrors }),
    seconds,
    ...(ends.length > 0 && { ends }),
    ...(unknown.length > 0 && { unknown }),
    ...(tokens !== null && { tokens, tokensBy }),
    ...(tokensDoubt !== null && { tokensDoubt }),
    ttftMs: count(result.ttftMs),
    itlMs: count(result.itlMs),
    tpotMs: count(result.tpotMs),
    latencyMs: count(result.latencyMs),
    lateMs: count(result.lateMs),
    clientBusy,
    invalid,
  };
}

function notesOf({ warmupErrors, notes }: LoadResult, { warmup }: LoadPlan): string[] {
  const [first] = warmupErrors;
  if (!first) return notes;
  const failed = warmupErrors.reduce((sum, each) => sum + each.count, 0);
  return [`${failed} of ${warmup} warm-up requests of the load failed: ${errorText(first)}`, ...notes];
}
