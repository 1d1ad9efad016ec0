import { describe, expect, it } from 'vitest';
import { loadResult, summariseLoad, type Recorded } from '../../lib/load/load-result.js';
import type { LoadPlan } from '../../lib/load/load-plan.js';
import { RequestFailure } from '../../lib/load/request-failure.js';
import type { RequestRecord } from '../../lib/load/run-load.js';

const plan: LoadPlan = {
  ...{ api: 'chat', url: new URL('http://a/'), method: 'POST', headers: {}, body: '{}', requests: 3, warmup: 0 },
  ...{ arrivals: { loop: 'open', ratePerSecond: 10, seed: 1 }, timeoutMs: 1_000 },
};

/** Scheduled at `at`, sent 0.5 ms later, tokens after 100 ms and then every 10 ms. */
function answered(at: number, chunks: number, usageTokens: number | null = null): RequestRecord {
  const firstMs = at + 100;
  const gapsMs = Array.from({ length: chunks - 1 }, () => 10);
  const lastMs = firstMs + 10 * (chunks - 1);
  const tokens = { id: null, firstMs, lastMs, gapsMs, usageTokens };
  return { scheduledMs: at, sentMs: at + 0.5, endMs: lastMs + 1, failure: null, tokens };
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
});

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
    // Usage that contradicts the chunks gives no times of tokens.
    expect(result([answered(1_000, 3, 1)]).tpotMs).toEqual([]);
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
