/** Streams that no server should send: a seeded fuzz of the reader of answers. */
import { describe, expect, it } from 'vitest';
import { askedTokens } from '../../../lib/load/answer/answer-length.js';
import { AnswerReader } from '../../../lib/load/answer/answer-reader.js';
import { loadResult } from '../../../lib/load/load-result.js';
import type { LoadApi, LoadPlan } from '../../../lib/load/load-plan.js';
import { RequestFailure } from '../../../lib/load/request-failure.js';
import type { RequestRecord } from '../../../lib/load/request-record.js';
import { seededRandom } from '../../../lib/stats/random.js';

const CASES = 2_000;
const plan = (api: LoadApi): LoadPlan => ({
  ...{ api, url: new URL('http://a/'), method: 'POST', headers: {}, requests: 1, warmup: 0, timeoutMs: 1_000 },
  body: '{"max_tokens": 16, "ignore_eos": true}',
  arrivals: { loop: 'closed', concurrency: 1 },
});

type Random = () => number;
const below = (random: Random, limit: number): number => Math.floor(random() * limit);
const oneOf = <T>(random: Random, list: readonly T[]): T => list[below(random, list.length)] as T;

const SCALARS = [
  ...['null', 'true', 'false', '0', '-0', '-1', '16', '16000', '1e999', '-1e999', '9007199254740993', '1.5', '""'],
  ...['" "', '"x"', '"stop"', '"abort"', '"\\ud800"', '"六"', '"[DONE]"', '"error"'],
];
const KEYS = [
  ...['id', 'choices', 'delta', 'text', 'content', 'reasoning', 'reasoning_content', 'tool_calls', 'function'],
  ...['name', 'arguments', 'finish_reason', 'usage', 'completion_tokens', 'completion_tokens_details', 'index'],
  ...[
    'reasoning_tokens',
    'error',
    'object',
    'type',
    'detail',
    'code',
    'message',
    '__proto__',
    'constructor',
    'toString',
  ],
];

/** Random JSON of the names that the reader looks for. */
function json(random: Random, depth = 0): string {
  const kind = random();
  if (depth > 5 || kind < 0.4) return oneOf(random, SCALARS);
  const parts = Array.from({ length: below(random, 4) }, () => json(random, depth + 1));
  if (kind < 0.55) return `[${parts.join(',')}]`;
  return `{${parts.map((part) => `"${oneOf(random, KEYS)}":${part}`).join(',')}}`;
}

/** A chunk that is nearly right: one value of it is random. */
function chunk(random: Random): string {
  const at = below(random, 5);
  const value = (place: number, usual: string) => (place === at ? json(random) : usual);
  const [content, finish, tokens] = [value(0, '"x"'), value(1, 'null'), value(2, '16')];
  return `{"id":${value(3, '"a"')},"choices":[{"index":0,"delta":{"content":${content}},"finish_reason":${finish}}],"usage":{"completion_tokens":${tokens}}}`;
}

const PIECES: readonly ((random: Random) => string)[] = [
  (random) => `data: ${chunk(random)}\n\n`,
  (random) => `data: ${chunk(random)}\n\n`,
  (random) => `data: ${json(random)}\n\n`,
  () => 'data: {"choices":[{"delta":{"content":"x"}}]}\n\n',
  () => 'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n',
  () => 'data: [DONE]\n\n',
  (random) => `event: ${oneOf(random, ['error', 'ping', ''])}\ndata: ${json(random)}\n\n`,
  (random) => `${json(random)}\n`,
  (random) => oneOf(random, ['\r', '\n', '\r\n', ': c\n', 'data:\n\n', 'error: {}\n\n', '\uFEFF', 'id: 1\n']),
  (random) => `data: ${'['.repeat(below(random, 20_000))}\n\n`,
  (random) => `data: {"choices":${'[{"delta":'.repeat(below(random, 5_000))}\n\n`,
];

function bytesOf(random: Random): Buffer {
  const count = 1 + below(random, 12);
  // Most have some of the rarer ones.
  const text = Array.from({ length: count }, () => oneOf(random, random() < 0.7 ? PIECES.slice(0, 8) : PIECES)(random));
  const bytes = Buffer.from(text.join(''));
  if (random() < 0.3) for (let n = 0; n < 3; n++) bytes[below(random, bytes.length)] = below(random, 256);
  return random() < 0.2 ? bytes.subarray(0, below(random, bytes.length)) : bytes;
}

/** What became of an answer with these bytes. Anything but a RequestFailure is thrown on. */
function recordOf(random: Random, api: LoadApi, bytes: Buffer, piece: number): RequestRecord {
  const reader = new AnswerReader(api, askedTokens(plan(api).body));
  let atMs = 10;
  const done = (failure: RequestFailure | null, tokens: RequestRecord['tokens']): RequestRecord => ({
    ...{ scheduledMs: 0, sentMs: 0, endMs: atMs, failure, tokens },
    ...{ finishReason: reader.finishReason, unknown: reader.unknown },
  });
  try {
    reader.onHead({ 'content-type': oneOf(random, ['text/event-stream', 'text/event-stream', 'application/json']) });
    for (let at = 0; at < bytes.length; at += piece) reader.onData(bytes.subarray(at, at + piece), (atMs += random()));
    return done(null, reader.end());
  } catch (error) {
    if (error instanceof RequestFailure) return done(error, null);
    throw error;
  }
}

/** All numbers in a value, however deep. */
function numbersIn(value: unknown): number[] {
  if (typeof value === 'number') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : [];
}

describe('any bytes of a server', () => {
  it('become a failure with a reason, or finite numbers', () => {
    const seen = { failed: 0, succeeded: 0, unknown: 0 };
    for (let seed = 1; seed <= CASES; seed++) {
      const random = seededRandom(seed);
      const api = oneOf(random, ['chat', 'chat', 'completions', 'http'] as const);
      const record = recordOf(random, api, bytesOf(random), 1 + below(random, 400));
      const recorded = { warmup: [], startMs: 0, busy: 0, beatsLateMs: [] };
      const result = loadResult(plan(api), { ...recorded, records: [record] });
      expect([seed, numbersIn(result).filter((number) => !Number.isFinite(number) || number < 0)]).toEqual([seed, []]);
      if (record.failure) {
        seen.failed++;
        expect([seed, record.failure.reason.length < 60, record.failure.message.length < 1_000]).toEqual([
          seed,
          true,
          true,
        ]);
        expect(result.latencyMs).toEqual([]);
      } else seen.succeeded++;
      if (record.unknown.length > 0) seen.unknown++;
    }
    // The fuzz reaches what it is for.
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(CASES / 50);
  });

  it('are read in linear time', () => {
    const kinds: ((size: number) => string)[] = [
      (size) => 'data: {"choices":[{"delta":{"content":"x"}}]}\n\n'.repeat(size / 48),
      (size) => 'data: {"choices":[{"delta":{"odd":"x"}}]}\n\n'.repeat(size / 44),
      (size) => `data: x\n`.repeat(size / 8),
      (size) => '\r\n'.repeat(size / 2),
      (size) => `data: ${'['.repeat(size)}\n\n`,
      (size) => `data: {"choices":[{"delta":{"content":[${'"x",'.repeat(size / 4)}"x"]}}]}\n\n`,
      (size) => `data: {${Array.from({ length: size / 16 }, (_, n) => `"k${n}":[]`).join(',')}}\n\n`,
    ];
    const timeOf = (text: string, piece: number): number => {
      const bytes = Buffer.from(text);
      const times = [1, 2, 3].map(() => {
        const before = process.cpuUsage();
        recordOf(() => 0, 'chat', bytes, piece);
        const { user, system } = process.cpuUsage(before);
        return user + system;
      });
      return Math.min(...times);
    };
    for (const [kind, textOf] of kinds.entries())
      for (const piece of [64, 65_536]) {
        const [small, large] = [timeOf(textOf(2 ** 16), piece), timeOf(textOf(2 ** 19), piece)];
        // Eight times the bytes: a square would take 64 times as long. What takes less than a few milliseconds is noise.
        expect([kind, piece, large < 24 * Math.max(small, 4_000)]).toEqual([kind, piece, true]);
      }
  });
});
