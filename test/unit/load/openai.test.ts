import { describe, expect, it } from 'vitest';
import { TokenReader, type TokenStream } from '../../../lib/load/answer/openai.js';
import type { OpenAiApi } from '../../../lib/load/answer/openai-api.js';
import { RequestFailure } from '../../../lib/load/request-failure.js';
import { UnknownParts } from '../../../lib/load/answer/unknown.js';

/** Every piece is read at a different time: 1, 2, 3, … ms. */
function read(pieces: readonly (string | Buffer)[], api: OpenAiApi = 'chat'): TokenStream {
  const reader = new TokenReader(api);
  pieces.forEach((piece, index) => reader.push(Buffer.from(piece as string), index + 1));
  return reader.end();
}

/** What of the pieces is not understood. */
function unknownOf(
  pieces: readonly string[],
  api: OpenAiApi = 'chat',
): [what: string, count: number, example: string][] {
  const unknown = new UnknownParts();
  const reader = new TokenReader(api, unknown);
  for (const piece of pieces) reader.push(Buffer.from(piece), 1);
  return unknown.list.map(({ what, count, example }) => [what, count, example]);
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
      ...{ blankChunks: 0, textBytes: 7, usageDoubt: null, isDone: true },
    }));

  it('of completions', () => {
    const text = (words: string, finish: string | null = null) =>
      event({ choices: [{ text: words, finish_reason: finish }] });
    expect(read([text('a'), text('b'), text(''), text('c', 'length'), done], 'completions')).toEqual({
      ...{ id: null, firstMs: 1, lastMs: 4, gapsMs: [1, 2], usageTokens: null },
      ...{ blankChunks: 0, textBytes: 3, usageDoubt: null, isDone: true },
    });
  });

  it.each<[string, object]>([
    ['reasoning of vLLM', { reasoning_content: 'hm' }],
    ['reasoning of newer servers', { reasoning: 'hm' }],
    ['the name of a tool', { tool_calls: [{ index: 0, function: { name: 'f', arguments: '' } }] }],
    ['arguments of a tool', { tool_calls: [{ index: 0, function: { arguments: '{' } }] }],
    ['a called function', { function_call: { name: 'f', arguments: '' } }],
    ['a refusal', { refusal: 'no' }],
    ['texts in a list', { content: ['', { type: 'text', text: 'x' }] }],
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
    ['an empty frame', 'data:\n\n'],
    ['white space', delta({ content: ' \n\t' })],
    ['white space of several fields', delta({ content: ' ', reasoning: '\u00a0' })],
  ])('does not count %s', (_, chunk) => expect(read([chunk, one, stop, done]).firstMs).toBe(2));

  it('keeps white space before the first token as chunks', () =>
    expect(read([delta({ content: '\n\n' }), one, delta({ content: ' ' }), two, stop])).toMatchObject({
      ...{ blankChunks: 1, firstMs: 2, gapsMs: [1, 1], textBytes: 10 },
    }));

  it('has a gap of 0 between chunks that were read at once', () =>
    expect(read([role, one + two, two, stop, done]).gapsMs).toEqual([0, 1]));

  it('counts a token when its event is complete, wherever the bytes are split', () => {
    const bytes = Buffer.from(delta({ content: '六' }));
    const at = bytes.indexOf('六') + 1;
    expect(read([role, bytes.subarray(0, at), bytes.subarray(at, -1), bytes.subarray(-1), stop, done]).firstMs).toBe(4);
  });

  it('may end without [DONE] if it says why it ends', () => expect(read([one, stop]).lastMs).toBe(1));

  it('may end with [DONE] alone where the server knows no finish_reason', () =>
    expect(read([event({ choices: [{ delta: { content: 'x' } }] }), done])).toMatchObject({ lastMs: 1, isDone: true }));

  it.each(['stop', 'length', 'tool_calls', 'eos_token', 'end_turn'])('succeeds with %s', (reason) =>
    expect(read([one, delta({}, reason), done]).lastMs).toBe(1),
  );

  it.each(['abort', 'error', 'timeout', 'cancelled', 'content_filter', 'whatever'])('fails with %s', (reason) =>
    expect(failure(() => read([one, two, delta({}, reason), done]))).toEqual({
      reason: `ended by ${reason}`,
      message: `the answer ended after 2 chunks with tokens by finish_reason '${reason}', which is no end of finished work`,
    }),
  );

  it('fails with the worse of two ends, and with one that is an object', () => {
    expect(failure(() => read([one, delta({}, 'stop'), delta({}, 'abort'), done])).reason).toBe('ended by abort');
    const ended = event({ choices: [{ delta: {}, finish_reason: { type: 'abort', message: 'x' } }] });
    expect(failure(() => read([one, ended, done])).reason).toBe('ended by abort');
  });

  it.each([[-1], [1.5], ['2'], [null]])('ignores a usage of %j', (tokens) =>
    expect(read([one, stop, usage(tokens), done]).usageTokens).toBeNull(),
  );

  it.each<[string, string[], string, RegExp]>([
    ['closed within a token', [one, one.slice(0, 20)], 'stream ended early', /^the stream ended within an event, without/],
    ['closed between tokens', [one, two], 'stream ended early', /after 2 chunks with tokens, without finish_reason or \[DONE\]$/],
    ['empty', [], 'stream ended early', /after 0 chunks/],
    ['with no token', [role, stop, done], 'no tokens', /time to first token is undefined/],
    ['with white space alone', [delta({ content: ' ' }), stop, done], 'no tokens', /no chunk but white space \(1 chunks\)/],
    ['with tokens where nobody looks', [delta({ thinking: 'hm' }), stop, done], 'no tokens', /Not understood: delta\.thinking, such as 'hm'/],
    ['with [DONE] alone', [done], 'no tokens', /no chunk with text/],
    ['with [DONE] and the announced finish_reason missing', [one, done], 'stream ended early', /\[DONE\] after 1 chunks with tokens, but without a finish_reason/],
    ['with text after [DONE]', [one, stop, done, two], 'tokens after the end', /text after \[DONE\]: 'two'/],
    ['with text after its finish_reason', [one, stop, two, done], 'tokens after the end', /after finish_reason 'stop': 'two'/],
    ['with JSON that is cut', ['data: {"choices": [\n\n'], 'invalid chunk', /^Expected a chunk to be JSON but received '\{"choices": \['$/],
    ['with a list', ['data: [1]\n\n'], 'invalid chunk', /a JSON object but received '\[1\]'$/],
    ['with null', ['data: null\n\n'], 'invalid chunk', /a JSON object but received 'null'$/],
    ['with text that is no JSON', ['data: Number of choices must be greater than 0.\n\n'], 'invalid chunk', /Number of choices/],
  ])('fails if it is %s', (_, pieces, reason, message) => {
    const { reason: received, message: said } = failure(() => read(pieces));
    expect(received).toBe(reason);
    expect(said).toMatch(message);
  }); // prettier-ignore

  it.each<[string, string]>([
    ['OpenAI', 'data: {"error": {"message": "no memory", "code": 500}}\n\n'],
    ['Ollama and Triton', 'data: {"error": "no memory"}\n\n'],
    ['TGI', 'data: {"error": "no memory", "error_type": "generation"}\n\n'],
    ['older vLLM and SGLang', 'data: {"object": "error", "message": "no memory", "code": 400}\n\n'],
    ['FastChat and LMDeploy', 'data: {"text": "no memory", "error_code": 50002}\n\n'],
    ['FastAPI', 'data: {"detail": "no memory"}\n\n'],
    ['a gateway, with a code', 'data: {"code": 503, "message": "no memory"}\n\n'],
    ['OpenRouter, in the choice', 'data: {"choices": [{"delta": {}, "error": {"message": "no memory"}}]}\n\n'],
    ['Anthropic', 'event: error\ndata: {"type": "error", "error": {"message": "no memory"}}\n\n'],
    ['the responses API', 'data: {"type": "response.failed", "response": {"note": "no memory"}}\n\n'],
    ['an event whose data is text', 'event: error\ndata: no memory\n\n'],
    ['Dynamo, in a comment', 'event: error\n: no memory\n\n'],
    ['older llama.cpp, in a field of its own', 'error: {"code": 500, "message": "no memory"}\n\n'],
    ['a line of bare JSON', '{"error": {"message": "no memory"}}\n'],
    ['bare JSON without an end', '{"error": {"message": "no memory"}}'],
    ['an event without an end', 'data: {"error": {"message": "no memory"}}'],
    ['any server after [DONE]', `${stop}${done}data: {"error": "no memory"}\n\n`],
  ])('fails with an error of %s', (_, error) => {
    const { reason, message } = failure(() => read([one, error]));
    expect(reason).toBe('error in the stream');
    expect(message).toMatch(/^the server sent an error: .*no memory/);
  });

  it.each(['null', '""', 'false', '0', '[]'])('knows that an error of %s is none', (nothing) => {
    const chunk = `data: {"error": ${nothing}, "choices": [{"delta": {"content": "a"}}]}\n\n`;
    expect(read([chunk, stop]).firstMs).toBe(1);
  });

  it.each<[string, string, string, string, OpenAiApi?]>([
    ['a field of the delta', delta({ thinking: 'hm' }), 'delta.thinking', 'hm'],
    ['a list of parts', delta({ content: [{ type: 'audio', data: 'x' }] }), 'delta.content[]', 'type: audio, data: x'],
    ['content of another type', delta({ content: 5 }), 'delta.content', '5'],
    ['reasoning of another type', delta({ reasoning_content: { text: 'x' } }), 'delta.reasoning_content', 'text: x'],
    ['a whole message', event({ choices: [{ message: { content: 'x' } }] }), 'choices.message', 'content: x'],
    ['the text of the other API', event({ choices: [{ text: 'x' }] }), 'choices.text', 'x'],
    ['a delta in completions', delta({ content: 'x' }), 'choices.delta', 'content: x', 'completions'],
    ['a second choice', event({ choices: [{ index: 1, delta: { content: 'x' } }] }), 'a choice that is not the first', '{"choices":[{"index":1,"delta":{"content":"x"}}]}'], // prettier-ignore
    ['a choice that is null', event({ choices: [null] }), 'a choice that is no object', '{"choices":[null]}'],
    ['a chunk of another API', event({ type: 'ping' }), 'a chunk without choices', '{"type":"ping"}'],
    ['empty frames', 'data:\n\n', 'empty data', 'message'],
    ['a named event', 'event: ping\ndata: 12:00\n\n', 'event ping', '12:00'],
    ['a line that is no field', 'hello\n', 'a line that is no event', 'hello'],
    ['a second [DONE]', done + done, 'a second [DONE]', '[DONE]'],
    ['what follows [DONE]', `${done}data: bye\n\n`, 'data after [DONE]', 'bye'],
    ['a usage without a number', usage('2'), 'usage without a number of completion_tokens', 'completion_tokens: 2'],
    [
      'a finish_reason of another type',
      event({ choices: [{ delta: {}, finish_reason: 3 }] }),
      'finish_reason',
      'number',
    ],
  ])('counts and quotes %s', (_, piece, what, example, api) => {
    expect(unknownOf([piece], api)).toContainEqual([what, 1, example]);
    const twice = what.includes('[DONE]') ? [piece, piece.replace(done, '')] : [piece, piece];
    expect(unknownOf(twice, api).find(([each]) => each === what)?.[1]).toBeGreaterThan(1);
  });

  it('knows all of an ordinary stream', () =>
    expect(unknownOf([': hi\n\n', role, one, two, event({ choices: [] }), stop, usage(2), done])).toEqual([]));

  it('counts kinds beyond a number of them together', () => {
    const many = Array.from({ length: 40 }, (_, n) => delta({ [`field${n}`]: 'x' }));
    expect(unknownOf(many)).toHaveLength(21);
    expect(unknownOf(many).at(-1)?.slice(0, 2)).toEqual(['others', 20]);
  });

  it('shows a part of a long chunk', () =>
    expect(failure(() => read([`data: ${'x'.repeat(10_000)}\n\n`])).message.length).toBeLessThan(200));
});
