import { describe, expect, it } from 'vitest';
import { loadResult, summariseLoad, type Recorded } from '../../../lib/load/load-result.js';
import type { LoadPlan } from '../../../lib/load/load-plan.js';
import { RequestFailure } from '../../../lib/load/request-failure.js';
import type { TokenStream } from '../../../lib/load/answer/openai.js';
import type { RequestRecord } from '../../../lib/load/request-record.js';

const plan: LoadPlan = {
  ...{ api: 'chat', url: new URL('http://a/'), method: 'POST', headers: {}, body: '{}', requests: 3, warmup: 0 },
  ...{ arrivals: { loop: 'open', ratePerSecond: 10, seed: 1 }, timeoutMs: 1_000 },
};

/** Scheduled at `at`, sent 0.5 ms later, tokens after 100 ms and then every 10 ms. */
function answered(at: number, chunks: number, usageTokens: number | null = null): RequestRecord {
  const firstMs = at + 100;
  const gapsMs = Array.from({ length: chunks - 1 }, () => 10);
  const lastMs = firstMs + 10 * (chunks - 1);
  const tokens = {
    ...{ id: null, firstMs, lastMs, gapsMs, usageTokens },
    ...{ blankChunks: 0, textBytes: 4 * chunks, usageDoubt: null, isDone: true },
  };
  return {
    ...{ scheduledMs: at, sentMs: at + 0.5, endMs: lastMs + 1, failure: null, tokens },
    ...{ finishReason: 'stop', unknown: [] },
  };
}

/** With tokens that take `factor` times as long. */
function slowed(record: RequestRecord, factor: number): RequestRecord {
  const { scheduledMs, tokens } = record;
  if (!tokens) return record;
  const gapsMs = tokens.gapsMs.map((gap) => factor * gap);
  const firstMs = scheduledMs + factor * (tokens.firstMs - scheduledMs);
  const lastMs = firstMs + gapsMs.reduce((sum, gap) => sum + gap, 0);
  return { ...record, endMs: lastMs + 1, tokens: { ...tokens, firstMs, lastMs, gapsMs } };
}

const failed = (at: number, reason: string, message = reason): RequestRecord => ({
  ...{ scheduledMs: at, sentMs: at + 0.5, endMs: at + 500, failure: new RequestFailure(reason, message), tokens: null },
  ...{ finishReason: null, unknown: [] },
});

/** An answer with another stream. */
function withStream(record: RequestRecord, change: Partial<TokenStream>): RequestRecord {
  return record.tokens ? { ...record, tokens: { ...record.tokens, ...change } } : record;
}

const result = (records: RequestRecord[], rest: Partial<Recorded> = {}, of = plan) =>
  loadResult(of, { records, warmup: [], startMs: 1_000, busy: 0.1, beatsLateMs: [], ...rest });

describe('the result of a load', () => {
  it('counts from the scheduled times', () => {
    const { ttftMs, itlMs, tpotMs, latencyMs, lateMs, ...rest } = result([answered(1_000, 3), answered(1_050, 1)]);
    expect({ ttftMs, itlMs, tpotMs, latencyMs, lateMs }).toEqual({
      ...{ ttftMs: [100, 100], itlMs: [10, 10], tpotMs: [10], latencyMs: [121, 101], lateMs: [0.5, 0.5] },
    });
    expect(rest).toMatchObject({ completed: false, requests: 2, succeeded: 2, seconds: 0.151, invalid: null });
    expect(rest).toMatchObject({ tokens: 4, tokensBy: 'chunks', offeredPerSecond: 10, errors: [] });
    expect(rest.tokensPerSecond).toBeCloseTo(4 / 0.151);
    expect(rest.achievedPerSecond).toBeCloseTo(2 / 0.151);
  });

  it("uses the server's count of tokens", () => {
    const { tokens, tokensBy, tpotMs } = result([answered(1_000, 3, 5)]);
    expect({ tokens, tokensBy, tpotMs }).toEqual({ tokens: 5, tokensBy: 'usage', tpotMs: [5] });
    expect(result([answered(1_000, 3, 5), answered(1_000, 3)])).toMatchObject({
      tokens: 8,
      tokensBy: 'usage and chunks',
    });
  });

  it('has no number of tokens where one answer contradicts itself, and keeps what was timed', () => {
    const doubted = withStream(answered(1_000, 3, 16_000), { usageDoubt: 'its usage is 16000 tokens, but' });
    const { ttftMs, itlMs, tpotMs, ...rest } = result([answered(1_000, 3, 5), doubted]);
    expect([ttftMs.length, itlMs.length, tpotMs]).toEqual([2, 4, []]);
    expect(rest).toMatchObject({ tokens: null, tokensBy: null, tokensPerSecond: null, succeeded: 2 });
    expect(rest.tokensDoubt).toBe(
      'the number of tokens is not known in 1 of 2 answers: of the first, its usage is 16000 tokens, but',
    );
  });

  it('divides by the tokens after the first that is no white space', () =>
    expect(result([withStream(answered(1_000, 3, 6), { blankChunks: 1 })]).tpotMs).toEqual([5]));

  it('counts how answers end, errors included', () => {
    const { ends } = result([
      answered(1_000, 2),
      { ...failed(1_000, 'ended by abort'), finishReason: 'abort' },
      failed(1_000, 'timeout'),
      answered(1_000, 2),
    ]);
    expect(ends).toEqual([
      { reason: 'stop', count: 2 },
      { reason: 'abort', count: 1 },
    ]);
    expect(result([{ ...answered(1_000, 2), finishReason: null }]).ends).toEqual([
      { reason: '[DONE] alone', count: 1 },
    ]);
  });

  it.each<[string, RequestRecord, string]>([
    ['finish_reason', { ...answered(1_000, 2), finishReason: null }, 'without a finish_reason, which other answers'],
    ['[DONE]', withStream(answered(1_000, 2), { isDone: false }), 'without [DONE], which other answers'],
  ])('takes an answer without the %s of the others as cut', (_, cut, message) => {
    for (const records of [[answered(1_000, 2), cut], [cut]]) {
      const { succeeded, errors, latencyMs } = result(records, { warmup: [answered(0, 2)] });
      expect([succeeded, latencyMs.length]).toEqual([records.length - 1, records.length - 1]);
      expect(errors).toEqual([
        { reason: 'stream ended early', count: 1, message: expect.stringContaining(message) as string },
      ]);
    }
    // Where no other one has it, this server gives none.
    expect(result([cut])).toMatchObject({ succeeded: 1, errors: [] });
  });

  it('has a note of everything that its numbers need', () => {
    const unknown = [{ what: 'delta.thinking', count: 2, example: 'hm' }];
    const { notes, unknown: counted } = result([
      { ...answered(1_000, 3, 12), unknown },
      { ...withStream(answered(1_000, 3, 12), { blankChunks: 1 }), unknown },
      answered(1_000, 3),
    ]);
    expect(counted).toEqual([{ what: 'delta.thinking', count: 4, example: 'hm' }]);
    expect(notes).toEqual([
      "not understood in the answers: delta.thinking, 4 times, first 'hm'",
      "a chunk holds 3.43 tokens on average, by the server's usage: the inter-token latency is the time between chunks",
      'the server gives no usage in 1 of 3 answers: their tokens are counted as chunks, which may hold several',
      '1 of 3 answers begin with tokens of white space: the first token is the first with more',
    ]);
    expect(result([answered(1_000, 3, 3)]).notes).toEqual([]);
  });

  it('leaves failed requests out of all samples, and counts them by reason', () => {
    const records = [failed(1_000, 'timeout', 'a'), failed(1_000, 'status 429'), failed(1_000, 'timeout', 'b')];
    const { errors, latencyMs, ttftMs, lateMs, ...rest } = result([...records, answered(1_000, 2)], {
      warmup: [failed(0, 'status 500', 'loading')],
    });
    expect(errors).toEqual([
      { reason: 'timeout', count: 2, message: 'a' },
      { reason: 'status 429', count: 1, message: 'status 429' },
    ]);
    expect([latencyMs.length, ttftMs.length, lateMs.length]).toEqual([1, 1, 4]);
    expect(rest).toMatchObject({ requests: 4, succeeded: 1, invalid: null });
    expect(rest.warmupErrors).toEqual([{ reason: 'status 500', count: 1, message: 'loading' }]);
    // The time in which others failed is part of the load.
    expect(rest.seconds).toBe(0.5);
  });

  it('is invalid without a successful request, or with a late client', () => {
    expect(result([failed(1_000, 'timeout', 'no answer')]).invalid).toBe(
      'none of 1 requests succeeded, most often: timeout (no answer)',
    );
    expect(result([]).invalid).toBe('no request ended');
    const late = { ...answered(1_000, 3), sentMs: 1_010 };
    expect(result([late]).invalid).toMatch(/^the client was late by 10.0 ms on average, 8.26 % of the mean latency/);
    expect(result([failed(1_000, 'client out of sockets'), answered(1_000, 1)]).invalid).toMatch(
      /^1 requests found no/,
    );
  });

  it('of a closed loop uses the heartbeat for the lateness', () => {
    const of: LoadPlan = { ...plan, arrivals: { loop: 'closed', concurrency: 1 } };
    const { lateMs, offeredPerSecond, invalid } = result([answered(1_000, 3)], { beatsLateMs: [0, 40] }, of);
    expect({ lateMs, offeredPerSecond }).toEqual({ lateMs: [0, 40], offeredPerSecond: null });
    expect(invalid).toMatch(/^the client was late by 20.0 ms/);
  });

  it('of plain HTTP has no tokens', () =>
    expect(result([{ ...answered(1_000, 3), tokens: null }])).toMatchObject({
      ...{ ttftMs: [], itlMs: [], tpotMs: [], tokens: null, tokensBy: null, tokensPerSecond: null, latencyMs: [121] },
    }));
});

describe('the summary of a load', () => {
  it('has percentiles only for enough samples, and intervals only for independent ones', () => {
    const { ttftMs, itlMs, tpotMs, lateMs } = summariseLoad(
      // Every other answer takes twice as long.
      result(Array.from({ length: 60 }, (_, i) => slowed(answered(1_000, 10), 1 + (i % 2)))),
    );
    expect(ttftMs).toMatchObject({
      median: { value: 150, ci95: [100, 200] },
      stats: { count: 60, p95: 200, p99: null },
    });
    expect(itlMs).toMatchObject({ median: { value: 15, ci95: null }, stats: { count: 540, p99: 20, p999: null } });
    expect(tpotMs.median?.ci95).toEqual([10, 20]);
    expect(lateMs.median?.ci95).toBeNull();
  });

  it('of nothing is null', () => expect(summariseLoad(result([])).ttftMs).toEqual({ median: null, stats: null }));
});
