/** The result of a load: samples, rates, errors by reason, and whether the client itself kept up. */
import type { Stats } from '../results/document.js';
import type { MedianEstimate } from '../stats/median.js';
import { serialMedian } from '../stats/serial.js';
import { summarise } from '../stats/summary.js';
import { chunksOf } from './answer/answer-length.js';
import { clientFault } from './client-health.js';
import { type AnswerEnd, endsOf, withoutUnusualEnds } from './answer/ends.js';
import { noteTexts } from './load-notes.js';
import type { LoadPlan } from './load-plan.js';
import type { TokenStream } from './answer/openai.js';
import { OUT_OF_SOCKETS } from './request-failure.js';
import type { RequestRecord } from './request-record.js';
import { type UnknownPart, UnknownParts } from './answer/unknown.js';

export interface LoadErrors {
  /** A short reason, such as `timeout` or `status 429`. */
  reason: string;
  count: number;
  /** The message of the first error with this reason. */
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
  /** Errors of counted requests by reason, the most frequent first. */
  errors: LoadErrors[];
  /** Errors of warm-up requests, which count nowhere else. */
  warmupErrors: LoadErrors[];
  /** How the streams of counted requests ended, errors included; the most frequent first. */
  ends: AnswerEnd[];
  /** What of the answers was not understood, warm-up left out. */
  unknown: UnknownPart[];
  /** What must be known to read the numbers: not understood parts, chunks of several tokens, first tokens of white space. */
  notes: string[];
  /**
   * Time to the first token that is more than white space, from a request's scheduled time, in ms, for requests that
   * succeeded. Empty without tokens.
   */
  ttftMs: number[];
  /** Time between two chunks with tokens, in ms, over all requests that succeeded. */
  itlMs: number[];
  /** The mean time of a token after the first, in ms, for each request with two tokens or more. */
  tpotMs: number[];
  /** Time from a request's scheduled time to the end of its answer, in ms, for requests that succeeded. */
  latencyMs: number[];
  /**
   * Generated tokens by the servers' usage, or by chunks for requests without usage (see `tokensBy`). Null if there are
   * none or their number is in doubt.
   */
  tokens: number | null;
  tokensBy: 'usage' | 'chunks' | 'usage and chunks' | null;
  /** Why `tokens` and what follows from it are null: the usage contradicts the streams. Null: no contradiction. */
  tokensDoubt: string | null;
  /** Tokens over the load's duration; null without tokens. */
  tokensPerSecond: number | null;
  /** Duration of the load, from its start to the end of the last answer. */
  seconds: number;
  /** Arrivals per second of the open loop; null for a closed loop, which offers what the server takes. */
  offeredPerSecond: number | null;
  /** Requests per second that succeeded, over the load's duration. */
  achievedPerSecond: number;
  /** How late the client itself was, in ms: each arrival of an open loop, or in a closed loop a timer every 20 ms. */
  lateMs: number[];
  /** The share of time for which the client's event loop was busy, from 0 to 1. */
  clientBusy: number;
  /** Why no number of this result may be used: the client was overloaded, or no request succeeded. Null: valid. */
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

export function loadResult(plan: LoadPlan, recorded: Recorded): LoadResult {
  const { startMs, busy, beatsLateMs } = recorded;
  const { loop } = plan.arrivals;
  const { warmup, records } = withoutUnusualEnds(recorded);
  const good = records.filter((record): record is Succeeded => record.failure === null);
  const seconds = records.reduce((last, { endMs }) => Math.max(last, endMs - startMs), 0) / 1_000;
  const latencyMs = good.map(({ scheduledMs, endMs }) => endMs - scheduledMs);
  const lateMs = loop === 'open' ? records.map(({ scheduledMs, sentMs }) => sentMs - scheduledMs) : [...beatsLateMs];
  const errors = errorsOf(records);
  const outOfSockets = errors.find(({ reason }) => reason === OUT_OF_SOCKETS)?.count ?? 0;
  const tokens = tokensOf(good);
  const unknown = unknownOf(records);
  return {
    api: plan.api,
    loop,
    completed: records.length === plan.requests,
    requests: records.length,
    succeeded: good.length,
    errors,
    warmupErrors: errorsOf(warmup),
    ends: endsOf(records),
    unknown,
    notes: noteTexts(good, unknown),
    ...tokenTimes(good, tokens.tokensDoubt !== null),
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

function unknownOf(records: readonly RequestRecord[]): UnknownPart[] {
  const parts = new UnknownParts();
  for (const { unknown } of records) for (const each of unknown) parts.add(each);
  return parts.list;
}

function tokenTimes(good: readonly Succeeded[], isInDoubt: boolean): Pick<LoadResult, 'ttftMs' | 'itlMs' | 'tpotMs'> {
  const streams = good.flatMap(({ scheduledMs, tokens }) => (tokens ? [{ scheduledMs, tokens }] : []));
  return {
    ttftMs: streams.map(({ scheduledMs, tokens }) => tokens.firstMs - scheduledMs),
    itlMs: streams.flatMap(({ tokens }) => tokens.gapsMs),
    tpotMs: isInDoubt ? [] : streams.flatMap(({ tokens }) => tpotOf(tokens)),
  };
}

/**
 * Returns the time per token after the first, if it is defined. Each chunk of white space before the first counts as
 * one token.
 */
function tpotOf(stream: TokenStream): number[] {
  const { firstMs, lastMs, gapsMs, blankChunks } = stream;
  const after = tokensIn(stream) - blankChunks - 1;
  return gapsMs.length > 0 && after > 0 ? [(lastMs - firstMs) / after] : [];
}

const tokensIn = (stream: TokenStream): number => stream.usageTokens ?? chunksOf(stream);

function tokensOf(good: readonly Succeeded[]): Pick<LoadResult, 'tokens' | 'tokensBy' | 'tokensDoubt'> {
  const streams = good.flatMap(({ tokens }) => (tokens ? [tokens] : []));
  const tokensDoubt = doubtOf(streams);
  if (streams.length === 0 || tokensDoubt !== null) return { tokens: null, tokensBy: null, tokensDoubt };
  const tokens = streams.reduce((sum, stream) => sum + tokensIn(stream), 0);
  const withUsage = streams.filter(({ usageTokens }) => usageTokens !== null).length;
  const both = withUsage > 0 && withUsage < streams.length;
  return { tokens, tokensBy: both ? 'usage and chunks' : withUsage > 0 ? 'usage' : 'chunks', tokensDoubt };
}

function doubtOf(streams: readonly TokenStream[]): string | null {
  const doubts = streams.flatMap(({ usageDoubt }) => usageDoubt ?? []);
  const [first] = doubts;
  if (first === undefined) return null;
  return `the number of tokens is not known in ${doubts.length} of ${streams.length} answers: of the first, ${first}`;
}

export interface SampleSummary {
  /** The median with its 95 % interval, which needs ten effective samples; null without samples. */
  median: MedianEstimate | null;
  /** Statistics, with percentiles null below their floor (`percentileFloors`); null without samples. */
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
