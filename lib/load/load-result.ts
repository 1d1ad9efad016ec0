/** The result of a load: samples, rates, errors by reason, and whether the client itself kept up. */
import type { Stats } from '../results/document.js';
import type { MedianEstimate } from '../stats/median.js';
import { serialMedian } from '../stats/serial.js';
import { summarise } from '../stats/summary.js';
import { clientFault } from './client-health.js';
import type { LoadPlan } from './load-plan.js';
import { OUT_OF_SOCKETS } from './request-failure.js';
import type { RequestRecord } from './run-load.js';

export interface LoadErrors {
  /** Such as `timeout` or `status 429`. */
  reason: string;
  count: number;
  /** The message of the first of them. */
  message: string;
}

export interface LoadResult {
  api: LoadPlan['api'];
  loop: 'open' | 'closed';
  /** False if the load was ended before all its requests. */
  completed: boolean;
  /** Counted requests that ended, errors included; without warm-up. */
  requests: number;
  succeeded: number;
  /** The most frequent first. */
  errors: LoadErrors[];
  /** Errors of warm-up requests, which count nowhere else. */
  warmupErrors: LoadErrors[];
  /** From a request's scheduled time to its first token, in ms, of requests that succeeded. Empty without tokens. */
  ttftMs: number[];
  /** Between two chunks with tokens, in ms, of all requests that succeeded. */
  itlMs: number[];
  /** The mean time of a token after the first, in ms, for each request with two tokens or more. */
  tpotMs: number[];
  /** From the scheduled time to the end of the answer, in ms, of requests that succeeded. */
  latencyMs: number[];
  /** Generated, by the servers' usage; by chunks where a request has none, which `tokensBy` says. Null without any. */
  tokens: number | null;
  tokensBy: 'usage' | 'chunks' | 'usage and chunks' | null;
  /** Tokens over the load's duration; null without tokens. */
  tokensPerSecond: number | null;
  /** From the start to the end of the last answer. */
  seconds: number;
  /** Arrivals of the open loop; null for a closed loop, which offers what the server takes. */
  offeredPerSecond: number | null;
  /** Requests that succeeded, over the load's duration. */
  achievedPerSecond: number;
  /** How late the client itself was, in ms: each arrival of an open loop; of a closed one, a timer every 20 ms. */
  lateMs: number[];
  /** The share of time for which the client's event loop was busy, from 0 to 1. */
  clientBusy: number;
  /** Why no number of it may be used: the client was overloaded, or no request succeeded. Null: valid. */
  invalid: string | null;
}

export interface Recorded {
  records: readonly RequestRecord[];
  warmup: readonly RequestRecord[];
  startMs: number;
  busy: number;
  beatsLateMs: readonly number[];
}

type Succeeded = RequestRecord & { failure: null };

export function loadResult(plan: LoadPlan, { records, warmup, startMs, busy, beatsLateMs }: Recorded): LoadResult {
  const { loop } = plan.arrivals;
  const good = records.filter((record): record is Succeeded => record.failure === null);
  const seconds = records.reduce((last, { endMs }) => Math.max(last, endMs - startMs), 0) / 1_000;
  const latencyMs = good.map(({ scheduledMs, endMs }) => endMs - scheduledMs);
  const lateMs = loop === 'open' ? records.map(({ scheduledMs, sentMs }) => sentMs - scheduledMs) : [...beatsLateMs];
  const errors = errorsOf(records);
  const outOfSockets = errors.find(({ reason }) => reason === OUT_OF_SOCKETS)?.count ?? 0;
  const tokens = tokensOf(good);
  return {
    ...{ api: plan.api, loop, completed: records.length === plan.requests },
    ...{ requests: records.length, succeeded: good.length, errors, warmupErrors: errorsOf(warmup) },
    ...tokenTimes(good),
    latencyMs,
    ...tokens,
    tokensPerSecond: tokens.tokens === null ? null : perSecond(tokens.tokens, seconds),
    seconds,
    offeredPerSecond: plan.arrivals.loop === 'open' ? plan.arrivals.ratePerSecond : null,
    achievedPerSecond: perSecond(good.length, seconds),
    lateMs,
    clientBusy: busy,
    invalid: clientFault({ loop, lateMs, latencyMs, busy, outOfSockets }) ?? noneSucceeded(records, good, errors),
  };
}

const perSecond = (count: number, seconds: number): number => (count === 0 ? 0 : count / seconds);

function noneSucceeded(
  all: readonly unknown[],
  good: readonly unknown[],
  errors: readonly LoadErrors[],
): string | null {
  if (good.length > 0) return null;
  const [first] = errors;
  if (!first) return 'no request ended';
  return `none of ${all.length} requests succeeded, most often: ${first.reason} (${first.message})`;
}

function errorsOf(records: readonly RequestRecord[]): LoadErrors[] {
  const byReason = new Map<string, LoadErrors>();
  for (const { failure } of records) {
    if (!failure) continue;
    const { reason, message } = failure;
    const known = byReason.get(reason);
    if (known) known.count++;
    else byReason.set(reason, { reason, count: 1, message });
  }
  return [...byReason.values()].sort((a, b) => b.count - a.count);
}

function tokenTimes(good: readonly Succeeded[]): Pick<LoadResult, 'ttftMs' | 'itlMs' | 'tpotMs'> {
  const streams = good.flatMap(({ scheduledMs, tokens }) => (tokens ? [{ scheduledMs, ...tokens }] : []));
  return {
    ttftMs: streams.map(({ scheduledMs, firstMs }) => firstMs - scheduledMs),
    itlMs: streams.flatMap(({ gapsMs }) => gapsMs),
    tpotMs: streams.flatMap(({ firstMs, lastMs, gapsMs, usageTokens }) => {
      const after = (usageTokens ?? gapsMs.length + 1) - 1;
      return gapsMs.length > 0 && after > 0 ? [(lastMs - firstMs) / after] : [];
    }),
  };
}

function tokensOf(good: readonly Succeeded[]): Pick<LoadResult, 'tokens' | 'tokensBy'> {
  const streams = good.flatMap(({ tokens }) => (tokens ? [tokens] : []));
  if (streams.length === 0) return { tokens: null, tokensBy: null };
  const tokens = streams.reduce((sum, { usageTokens, gapsMs }) => sum + (usageTokens ?? gapsMs.length + 1), 0);
  const withUsage = streams.filter(({ usageTokens }) => usageTokens !== null).length;
  const both = withUsage > 0 && withUsage < streams.length;
  return { tokens, tokensBy: both ? 'usage and chunks' : withUsage > 0 ? 'usage' : 'chunks' };
}

export interface SampleSummary {
  /** The median with its 95 % interval, which needs ten effective samples; null of none. */
  median: MedianEstimate | null;
  /** Percentiles are null below their floor (`percentileFloors`). */
  stats: Stats | null;
}

export type LoadSummary = Record<'ttftMs' | 'itlMs' | 'tpotMs' | 'latencyMs' | 'lateMs', SampleSummary>;

/**
 * Statistics of the samples. Intervals between tokens have one length within a request and another in the next, so
 * `itlMs` has no confidence interval; compare `tpotMs`, which has one sample for each request.
 */
export function summariseLoad({ ttftMs, itlMs, tpotMs, latencyMs, lateMs }: LoadResult): LoadSummary {
  const summary = (samples: readonly number[], isOneOfRequest = true): SampleSummary => {
    if (samples.length === 0) return { median: null, stats: null };
    const { value, ci95 } = serialMedian(samples);
    return { median: { value, ci95: isOneOfRequest ? ci95 : null }, stats: summarise(samples) };
  };
  return {
    ttftMs: summary(ttftMs),
    itlMs: summary(itlMs, false),
    tpotMs: summary(tpotMs),
    latencyMs: summary(latencyMs),
    lateMs: summary(lateMs, false),
  };
}
