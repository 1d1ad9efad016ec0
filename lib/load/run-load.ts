/** Sends the requests of a load and records the outcome of each. */
import { UsageError } from '../errors/usage-error.js';
import type { RequestRecord } from './request-record.js';
import { setMaxListeners } from 'node:events';
import { type AskedTokens, askedTokens } from './answer/answer-length.js';
import { AnswerReader } from './answer/answer-reader.js';
import { closedLoop, openLoop, poissonTimesMs, type Send } from './arrivals.js';
import { Heartbeat } from './client-health.js';
import { nowMs } from './clock.js';
import { HttpClient } from './http-client.js';
import { numbered } from './load-body.js';
import type { LoadPlan } from './load-plan.js';
import { type LoadResult, loadResult } from './load-result.js';
import type { TokenStream } from './answer/openai.js';
import { RequestFailure } from './request-failure.js';

export interface LoadOptions {
  /** Ends the load: requests under way are dropped, and the result says `completed: false`. */
  signal?: AbortSignal;
  /** Gets every counted request once it has ended. */
  onRequest?: (record: RequestRecord) => void;
}

/** Most chunks with tokens whose intervals, with their statistics, fit into memory. A load that receives more fails. */
const MOST_TOKENS = 10_000_000;

/** Runs a load. Rejects only if nothing can be measured: a failed request is part of the result. */
export async function runPlan(plan: LoadPlan, { signal: ended, onRequest }: LoadOptions = {}): Promise<LoadResult> {
  const stop = new AbortController();
  const signal = AbortSignal.any(ended ? [ended, stop.signal] : [stop.signal]);
  // Every request under way listens to it.
  setMaxListeners(0, signal);
  const client = new HttpClient(plan);
  try {
    const asked = askedTokens(plan.body);
    const warmup = await sendWarmup(plan, client, { asked, signal });
    const records: RequestRecord[] = [];
    let tokens = 0;
    const heartbeat = new Heartbeat();
    const startMs = nowMs();
    await sendCounted(plan, signal, async (index, scheduledMs) => {
      const record = await sendOne(plan, client, { index, scheduledMs, asked, signal });
      if (!record) return;
      records.push(record);
      tokens += record.tokens ? record.tokens.gapsMs.length + 1 : 0;
      if (tokens > MOST_TOKENS) stop.abort();
      onRequest?.(record);
    });
    const busy = heartbeat.stop();
    if (stop.signal.aborted)
      throw new UsageError(`The load received more than ${MOST_TOKENS} tokens: ask for fewer requests or tokens.`);
    return loadResult(plan, { records, warmup, startMs, busy, beatsLateMs: heartbeat.lateMs });
  } finally {
    client.close();
  }
}

function sendCounted({ arrivals, requests }: LoadPlan, signal: AbortSignal, send: Send): Promise<void> {
  if (arrivals.loop === 'closed') return closedLoop(requests, arrivals.concurrency, send, signal);
  return openLoop(poissonTimesMs(requests, arrivals.ratePerSecond, arrivals.seed), send, signal);
}

/**
 * Sends the warm-up requests, numbered below 0, which open the connections: as many at a time as later, or one if
 * arrivals are random.
 */
async function sendWarmup(
  plan: LoadPlan,
  client: HttpClient,
  sending: Pick<Sending, 'asked' | 'signal'>,
): Promise<RequestRecord[]> {
  const records: RequestRecord[] = [];
  const concurrency = plan.arrivals.loop === 'closed' ? plan.arrivals.concurrency : 1;
  const send: Send = async (index, scheduledMs) => {
    const record = await sendOne(plan, client, { ...sending, index: index - plan.warmup, scheduledMs });
    if (record) records.push(record);
  };
  await closedLoop(plan.warmup, concurrency, send, sending.signal);
  return records;
}

interface Sending {
  index: number;
  scheduledMs: number;
  asked: AskedTokens;
  signal: AbortSignal;
}

/** Sends one request; null if the load was ended meanwhile. */
async function sendOne(plan: LoadPlan, client: HttpClient, sending: Sending): Promise<RequestRecord | null> {
  const { index, scheduledMs, asked, signal } = sending;
  const body = plan.body === null ? null : numbered(plan.body, index);
  const reader = new AnswerReader(plan.api, asked);
  const sentMs = nowMs();
  const record = (endMs: number, failure: RequestFailure | null, tokens: TokenStream | null): RequestRecord => ({
    scheduledMs,
    sentMs,
    endMs,
    failure,
    tokens,
    finishReason: reader.finishReason,
    unknown: reader.unknown,
  });
  try {
    const { endMs } = await client.send(
      body,
      { onHead: (headers) => reader.onHead(headers), onData: (chunk, atMs) => reader.onData(chunk, atMs) },
      signal,
    );
    return record(endMs, null, reader.end());
  } catch (error) {
    if (error instanceof RequestFailure) return record(nowMs(), error, null);
    if (signal.aborted) return null;
    throw error;
  }
}
