/** Whether an answer has as many tokens as its request asks for: one that is cut short is no work done. */
import { isOfLength } from './finish-reason.js';
import { fieldOf, fieldsOf, jsonIn } from '../../results/fields.js';
import type { TokenStream } from './openai.js';
import { RequestFailure } from '../request-failure.js';

export interface AskedTokens {
  /** Most tokens that the request allows; null if the model decides. */
  most: number | null;
  least: number | null;
}

/** Least share of the requested tokens: servers disagree whether the token that ends the text counts. */
const LEAST_SHARE = 0.95;
/**
 * Chunks beyond the requested tokens that are accepted: a chunk with the name of a tool may have no token of its own.
 */
const EXTRA_CHUNKS = 2;

/** Reads from a request's JSON body how many tokens it asks for. */
export function askedTokens(body: string | null): AskedTokens {
  const fields = fieldsOf(jsonIn(body ?? ''));
  const number = (...names: string[]) => {
    const value = names.map((name) => fieldOf(fields, name)).find((each) => typeof each === 'number');
    return typeof value === 'number' && value > 0 ? value : null;
  };
  const most = number('max_completion_tokens', 'max_tokens', 'n_predict');
  // `nvext` is of NVIDIA Dynamo.
  const ignoresEnd = [fields, fieldsOf(fieldOf(fields, 'nvext'))].some((each) => fieldOf(each, 'ignore_eos') === true);
  return { most, least: ignoresEnd ? most : number('min_tokens') };
}

/** Counts the chunks of a stream that hold text, white space included. */
export const chunksOf = ({ gapsMs, blankChunks }: TokenStream): number => blankChunks + gapsMs.length + 1;

/**
 * Compares the tokens of an answer with those asked for. Throws RequestFailure for too many or too few. Returns why
 * their number is not known; null where it is.
 */
export function checkLength(stream: TokenStream, asked: AskedTokens, reason: string | null): string | null {
  const { usageTokens, textBytes, usageDoubt } = stream;
  const chunks = chunksOf(stream);
  const most = asked.most ?? Infinity;
  if ((usageTokens ?? 0) > most || chunks > most + EXTRA_CHUNKS)
    throw new RequestFailure(
      'more tokens than asked',
      `Expected at most ${most} tokens but received ${countText(usageTokens, chunks)}: does the server honour max_tokens?`,
    );
  const least = asked.least ?? (isOfLength(reason) ? asked.most : null) ?? 0;
  const enough = Math.floor(LEAST_SHARE * least);
  // Without usage a chunk may hold several tokens, each of which has a byte of text at least.
  if ((usageTokens ?? textBytes) < enough)
    throw new RequestFailure('fewer tokens than asked', fewerText(least, countText(usageTokens, chunks), reason));
  if (usageDoubt !== null || usageTokens !== null || chunks >= enough) return usageDoubt;
  return `it should have ${least} tokens and has ${chunks} chunks, and no usage says how many tokens they hold`;
}

const countText = (usageTokens: number | null, chunks: number): string =>
  usageTokens === null ? `${chunks} chunks with tokens` : `${usageTokens}, by the server's usage`;

const fewerText = (least: number, received: string, reason: string | null): string =>
  `Expected ${least} tokens but received ${received}${reason === null ? '' : ` (finish_reason '${reason}')`}: was it cut short, or is the model's context full?`;
