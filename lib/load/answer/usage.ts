/** The number of tokens that a server says it generated, and what its stream says against it. */
import { fieldOf, fieldsOf, isFields } from '../../results/fields.js';
import type { UnknownParts } from './unknown.js';

export interface StreamedText {
  /** Chunks with generated text. */
  chunks: number;
  /** Bytes of generated text. */
  bytes: number;
}

/**
 * Tokens without text that an answer may have. Others have at least one byte each; special tokens and those that end an
 * answer have none.
 */
const TOKENS_WITHOUT_TEXT = 8;
/**
 * Chunks that an answer may have beyond its tokens. A chunk has at least one token, except for a few that two fields
 * share.
 */
const EXTRA_CHUNKS = 2;
const EXTRA_SHARE = 0.05;

export class Usage {
  #tokens: number | null = null;
  #hidden = 0;
  #doubt: string | null = null;
  #streamed: StreamedText = { chunks: 0, bytes: 0 };

  /** The number of generated tokens; null where the server gave none. */
  get tokens(): number | null {
    return this.#tokens;
  }

  /**
   * Notes the usage of a chunk. `mayGrow`: whether that chunk also ends the text, whose last token may have no text.
   */
  note(value: unknown, streamed: StreamedText, mayGrow: boolean, unknown: UnknownParts): void {
    if (value === null || value === undefined) return;
    const tokens = fieldOf(fieldsOf(value), 'completion_tokens');
    if (typeof tokens !== 'number' || !Number.isSafeInteger(tokens) || tokens < 0)
      return unknown.note('usage without a number of completion_tokens', usageText(value, tokens));
    const hasMore = mayGrow || streamed.chunks > this.#streamed.chunks;
    // It may come with every chunk, and grow with the text.
    if (this.#tokens !== null && (tokens < this.#tokens || (tokens > this.#tokens && !hasMore)))
      this.#doubt ??= `its usage was ${this.#tokens} tokens, then ${tokens}`;
    const hidden = fieldOf(fieldsOf(fieldOf(fieldsOf(value), 'completion_tokens_details')), 'reasoning_tokens');
    this.#hidden = typeof hidden === 'number' && hidden > 0 ? Math.min(hidden, tokens) : 0;
    this.#tokens = tokens;
    this.#streamed = streamed;
  }

  /** Why the number of tokens contradicts the stream; null where it does not. */
  doubt({ chunks, bytes }: StreamedText): string | null {
    const tokens = this.#tokens;
    if (this.#doubt !== null || tokens === null) return this.#doubt;
    const seen = `but its stream has ${chunks} chunks with ${bytes} bytes of text`;
    // Tokens of a reasoning that the server keeps to itself have no text.
    if (tokens - this.#hidden > bytes + TOKENS_WITHOUT_TEXT) return `its usage is ${tokens} tokens, ${seen}`;
    if (chunks > tokens + Math.max(EXTRA_CHUNKS, EXTRA_SHARE * tokens)) return `its usage is ${tokens} tokens, ${seen}`;
    return null;
  }
}

const usageText = (value: unknown, tokens: unknown): string =>
  isFields(value) && typeof tokens !== 'object' ? `completion_tokens: ${String(tokens)}` : typeof value;
