/** What has to be said beside the numbers of a load, so that none is taken for another one. */
import { chunksOf } from './answer/answer-length.js';
import type { TokenStream } from './answer/openai.js';
import type { RequestRecord } from './request-record.js';
import { type UnknownPart, unknownText } from './answer/unknown.js';

/** Tokens per chunk from which on the time between chunks is not that between tokens. */
const TOKENS_PER_CHUNK = 1.5;

export function noteTexts(good: readonly RequestRecord[], unknown: readonly UnknownPart[]): string[] {
  const streams = good.flatMap(({ tokens }) => tokens ?? []);
  return [...unknown.map(unknownText), chunkNote(streams), usageNote(streams), blankNote(streams)].filter(
    (note) => note !== null,
  );
}

function chunkNote(streams: readonly TokenStream[]): string | null {
  const counted = streams.filter(({ usageTokens, usageDoubt }) => usageTokens !== null && usageDoubt === null);
  const tokens = counted.reduce((sum, { usageTokens }) => sum + (usageTokens ?? 0), 0);
  const chunks = counted.reduce((sum, stream) => sum + chunksOf(stream), 0);
  if (tokens < TOKENS_PER_CHUNK * chunks || chunks === 0) return null;
  return `a chunk holds ${(tokens / chunks).toPrecision(3)} tokens on average, by the server's usage: the inter-token latency is the time between chunks`;
}

function usageNote(streams: readonly TokenStream[]): string | null {
  const without = streams.filter(({ usageTokens }) => usageTokens === null).length;
  if (without === 0) return null;
  return `the server gives no usage in ${without} of ${streams.length} answers: their tokens are counted as chunks, which may hold several`;
}

function blankNote(streams: readonly TokenStream[]): string | null {
  const blank = streams.filter(({ blankChunks }) => blankChunks > 0).length;
  if (blank === 0) return null;
  return `${blank} of ${streams.length} answers begin with tokens of white space: the first token is the first with more`;
}
