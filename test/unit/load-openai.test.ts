import { describe, expect, it } from 'vitest';
import { checkStream, type OpenAiApi, TokenReader, type TokenStream } from '../../lib/load/openai.js';
import { RequestFailure } from '../../lib/load/request-failure.js';

/** Every piece is read at a different time: 1, 2, 3, … ms. */
function read(pieces: readonly (string | Buffer)[], api: OpenAiApi = 'chat'): TokenStream {
  const reader = new TokenReader(api);
  pieces.forEach((piece, index) => reader.push(Buffer.from(piece as string), index + 1));
  return reader.end();
}

const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const delta = (fields: object, finish: string | null = null) =>
  event({ id: 'chatcmpl-7', choices: [{ index: 0, delta: fields, finish_reason: finish }] });
const [role, one, two] = [
  delta({ role: 'assistant', content: '' }),
  delta({ content: 'one' }),
  delta({ content: ' two' }),
];
const stop = delta({}, 'stop');
const usage = (completion_tokens: unknown) => event({ choices: [], usage: { completion_tokens } });
const done = 'data: [DONE]\n\n';

const failure = (run: () => unknown): Pick<RequestFailure, 'reason' | 'message'> => {
  try {
    run();
  } catch (error) {
    if (error instanceof RequestFailure) return { reason: error.reason, message: error.message };
    throw error;
  }
  throw new Error('it did not fail');
};

describe('a stream of tokens', () => {
  it('of a chat does not count role, usage and the end as tokens', () =>
    expect(read([role, one, two, stop, usage(2), done])).toEqual({
      ...{ id: 'chatcmpl-7', firstMs: 2, lastMs: 3, gapsMs: [1], usageTokens: 2 },
    }));

  it('of completions', () => {
    const text = (words: string, finish: string | null = null) =>
      event({ choices: [{ text: words, finish_reason: finish }] });
    expect(read([text('a'), text('b'), text(''), text('c', 'length'), done], 'completions')).toEqual({
      ...{ id: null, firstMs: 1, lastMs: 4, gapsMs: [1, 2], usageTokens: null },
    });
  });

  it.each<[string, object]>([
    ['reasoning of vLLM', { reasoning_content: 'hm' }],
    ['reasoning of newer servers', { reasoning: 'hm' }],
    ['the name of a tool', { tool_calls: [{ index: 0, function: { name: 'f', arguments: '' } }] }],
    ['arguments of a tool', { tool_calls: [{ index: 0, function: { arguments: '{' } }] }],
    ['a space', { content: ' ' }],
  ])('counts %s', (_, fields) => expect(read([role, delta(fields), stop, done]).firstMs).toBe(2));

  it.each<[string, string]>([
    ['empty text', delta({ content: '' })],
    ['null', delta({ content: null, reasoning_content: null, tool_calls: null })],
    ['a number', delta({ content: 5 })],
    ['no choices', event({ choices: [] })],
    ['choices that are no list', event({ choices: { 0: { delta: { content: 'x' } } } })],
    ['a choice that is null', event({ choices: [null] })],
    ['a name that every object inherits', event({ choices: [{ delta: 'content', toString: 'x' }] })],
    ['a comment', ': ping\n\n'],
  ])('does not count %s', (_, chunk) => expect(read([chunk, one, stop, done]).firstMs).toBe(2));

  it('has a gap of 0 between chunks that were read at once', () =>
    expect(read([role, one + two, two, stop, done]).gapsMs).toEqual([0, 1]));

  it('counts a token when its event is complete, wherever the bytes are split', () => {
    const bytes = Buffer.from(delta({ content: '六' }));
    const at = bytes.indexOf('六') + 1;
    expect(read([role, bytes.subarray(0, at), bytes.subarray(at, -1), bytes.subarray(-1), stop, done]).firstMs).toBe(4);
  });

  it('may end without [DONE] if it says why it ends', () => expect(read([one, stop]).lastMs).toBe(1));

  it('ends with [DONE] and ignores what follows', () => expect(read([one, done + two, 'data: {\n\n']).lastMs).toBe(1));

  it.each([[-1], [1.5], ['2'], [null]])('ignores a usage of %j', (tokens) =>
    expect(read([one, stop, usage(tokens), done]).usageTokens).toBeNull(),
  );

  it.each<[string, string[], string, RegExp]>([
    ['closed within a token', [one, one.slice(0, 20)], 'stream ended early', /^the stream ended within an event, without/],
    ['closed between tokens', [one, two], 'stream ended early', /after 2 chunks with tokens, without finish_reason or \[DONE\]$/],
    ['empty', [], 'stream ended early', /after 0 chunks/],
    ['with no token', [role, stop, done], 'no tokens', /time to first token is undefined/],
    ['with [DONE] alone', [done], 'no tokens', /no chunk with text/],
    ['with JSON that is cut', ['data: {"choices": [\n\n'], 'invalid chunk', /^Expected a chunk to be JSON but received '\{"choices": \['$/],
    ['with a list', ['data: [1]\n\n'], 'invalid chunk', /a JSON object but received '\[1\]'$/],
    ['with null', ['data: null\n\n'], 'invalid chunk', /a JSON object but received 'null'$/],
    ['with an error', [one, event({ error: { message: 'out of memory', code: 500 } })], 'error in the stream', /out of memory/],
    ['with an error that is text', [event({ error: 'overloaded' })], 'error in the stream', /"overloaded"/],
  ])('fails if it is %s', (_, pieces, reason, message) => {
    const { reason: received, message: said } = failure(() => read(pieces));
    expect(received).toBe(reason);
    expect(said).toMatch(message);
  }); // prettier-ignore

  it('shows a part of a long chunk', () =>
    expect(failure(() => read([`data: ${'x'.repeat(10_000)}\n\n`])).message.length).toBeLessThan(200));

  it('is recognised by its content type', () => {
    expect(() => checkStream('text/event-stream')).not.toThrow();
    expect(() => checkStream('Text/Event-Stream; charset=utf-8')).not.toThrow();
    expect(failure(() => checkStream('application/json'))).toEqual({
      reason: 'not a stream',
      message:
        "Expected the answer to have content-type text/event-stream but received 'application/json': does the server stream?",
    });
    expect(failure(() => checkStream(undefined)).message).toMatch(/but received none/);
  });
});
