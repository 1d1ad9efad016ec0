import { describe, expect, it } from 'vitest';
import { askedTokens, checkLength } from '../../../lib/load/answer/answer-length.js';
import type { TokenStream } from '../../../lib/load/answer/openai.js';

const stream = (chunks: number, usageTokens: number | null, change: Partial<TokenStream> = {}): TokenStream => ({
  ...{ id: null, firstMs: 1, lastMs: chunks, gapsMs: Array.from({ length: chunks - 1 }, () => 1), usageTokens },
  ...{ blankChunks: 0, textBytes: 4 * chunks, usageDoubt: null, isDone: true },
  ...change,
});
const asked = (body: object) => askedTokens(JSON.stringify(body));

describe('the tokens that a request asks for', () => {
  it.each<[object, object]>([
    [{ max_tokens: 128 }, { most: 128, least: null }],
    [
      { max_tokens: 128, max_completion_tokens: 64 },
      { most: 64, least: null },
    ],
    [
      { n_predict: 32, ignore_eos: true },
      { most: 32, least: 32 },
    ],
    [
      { max_tokens: 128, nvext: { ignore_eos: true } },
      { most: 128, least: 128 },
    ],
    [
      { max_tokens: 128, min_tokens: 100 },
      { most: 128, least: 100 },
    ],
    [{ ignore_eos: true }, { most: null, least: null }],
    [
      { max_tokens: '128', ignore_eos: 'true' },
      { most: null, least: null },
    ],
  ])('%j', (body, expected) => expect(asked(body)).toEqual(expected));

  it('of no body, and of one that is no object, are not known', () => {
    for (const body of [null, '', '[]', 'x']) expect(askedTokens(body)).toEqual({ most: null, least: null });
  });
});

describe('the length of an answer', () => {
  const [free, exact] = [asked({ max_tokens: 128 }), asked({ max_tokens: 128, ignore_eos: true })];

  it.each<[string, TokenStream, typeof free, string]>([
    ['that stops', stream(16, 16), free, 'stop'],
    ['of all tokens', stream(128, 128), exact, 'length'],
    ['whose last token does not count', stream(127, 127), exact, 'length'],
    ['in fewer chunks', stream(16, 128, { textBytes: 500 }), exact, 'length'],
    ['without usage', stream(128, null), exact, 'length'],
    ['that stops, without usage', stream(3, null), free, 'stop'],
  ])('%s is what was asked', (_, answer, of, reason) => expect(checkLength(answer, of, reason)).toBeNull());

  it.each<[string, TokenStream, typeof free, string, RegExp]>([
    ['by usage', stream(40, 40), exact, 'stop', /^Expected 128 tokens but received 40, by the server's usage \(finish_reason 'stop'\): was it cut short/],
    ['by bytes of text', stream(10, null), exact, 'stop', /received 10 chunks with tokens/],
    ['though it claims its full length', stream(40, 40), free, 'length', /^Expected 128 tokens but received 40/],
    ['than the least', stream(40, 40), asked({ max_tokens: 128, min_tokens: 100 }), 'stop', /^Expected 100 tokens/],
  ])('fails with fewer tokens than asked %s', (_, answer, of, reason, message) => {
    expect(() => checkLength(answer, of, reason)).toThrow(message);
    expect(() => checkLength(answer, of, reason)).toThrow(expect.objectContaining({ reason: 'fewer tokens than asked' }) as Error);
  }); // prettier-ignore

  it.each<[string, TokenStream]>([
    ['by usage', stream(16, 129)],
    ['by chunks', stream(131, null)],
    ['by chunks of white space too', stream(100, null, { blankChunks: 31 })],
  ])('fails with more tokens than asked %s', (_, answer) =>
    expect(() => checkLength(answer, free, 'stop')).toThrow(/^Expected at most 128 tokens but received/),
  );

  it('is in doubt where chunks without usage must hold several tokens, or the usage is', () => {
    expect(checkLength(stream(40, null, { textBytes: 500 }), exact, 'length')).toMatch(
      /^it should have 128 tokens and has 40 chunks, and no usage says/,
    );
    expect(checkLength(stream(16, 16, { usageDoubt: 'twice' }), free, 'stop')).toBe('twice');
  });
});
