import { describe, expect, it } from 'vitest';
import { UnknownParts } from '../../../lib/load/answer/unknown.js';
import { type StreamedText, Usage } from '../../../lib/load/answer/usage.js';

const tokens = (completion_tokens: unknown, hidden?: number) => ({
  completion_tokens,
  ...(hidden !== undefined && { completion_tokens_details: { reasoning_tokens: hidden } }),
});

/** The doubt about usages that came after so many chunks, with four bytes of text each. */
function doubt(usages: readonly [usage: unknown, chunks: number, isLast?: boolean][], streamed: StreamedText) {
  const usage = new Usage();
  for (const [value, chunks, isLast = false] of usages)
    usage.note(value, { chunks, bytes: 4 * chunks }, isLast, new UnknownParts());
  return usage.doubt(streamed);
}
const text = (chunks: number, bytes = 4 * chunks): StreamedText => ({ chunks, bytes });

describe("the server's usage", () => {
  it.each<[string, Parameters<typeof doubt>[0], StreamedText]>([
    ['none', [], text(16)],
    ['null', [[null, 16]], text(16)],
    ['a token for each chunk', [[tokens(16), 16]], text(16)],
    ['the end as a token of its own', [[tokens(17), 16]], text(16)],
    ['several tokens in a chunk', [[tokens(60), 16]], text(16)],
    ['one chunk with all', [[tokens(50), 1]], text(1, 200)],
    ['a reasoning that is kept back', [[tokens(1_016, 1_000), 16]], text(16)],
    ['usage with every chunk', [[tokens(1), 1], [tokens(2), 2], [tokens(3), 2, true], [tokens(3), 2]], text(2)],
    ['the same again', [[tokens(16), 16], [tokens(16), 16]], text(16)],
  ])('is believed with %s', (_, usages, streamed) => expect(doubt(usages, streamed)).toBeNull()); // prettier-ignore

  it.each<[string, Parameters<typeof doubt>[0], StreamedText, RegExp]>([
    ['more tokens than bytes of text', [[tokens(16_000), 16]], text(16), /^its usage is 16000 tokens, but its stream has 16 chunks with 64 bytes of text$/],
    ['fewer tokens than chunks', [[tokens(5), 16]], text(16), /^its usage is 5 tokens, but its stream has 16 chunks/],
    ['no tokens', [[tokens(0), 16]], text(16), /^its usage is 0 tokens/],
    ['a second usage that is larger', [[tokens(16), 16], [tokens(20), 16]], text(16), /^its usage was 16 tokens, then 20$/],
    ['a second usage that is smaller', [[tokens(16), 10], [tokens(10), 16]], text(16), /^its usage was 16 tokens, then 10$/],
    ['a reasoning that is less than claimed', [[tokens(1_016, 10), 16]], text(16), /^its usage is 1016 tokens/],
  ])('is doubted with %s', (_, usages, streamed, why) => expect(doubt(usages, streamed)).toMatch(why)); // prettier-ignore

  it.each([-1, 1.5, '2', null, Infinity, 2 ** 60, undefined, {}])('is not read from %j', (value) => {
    const unknown = new UnknownParts();
    const usage = new Usage();
    usage.note(tokens(value), text(1), false, unknown);
    expect([usage.tokens, unknown.list[0]?.what]).toEqual([null, 'usage without a number of completion_tokens']);
  });
});
