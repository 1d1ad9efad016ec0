/**
 * Streams of OpenAI-compatible servers: /v1/chat/completions and /v1/completions with `stream: true`, as the API
 * reference of OpenAI describes them and vLLM, llama.cpp, SGLang and TGI send them.
 */
import type { OpenAiApi } from './openai-api.js';
import { FinishReason } from './finish-reason.js';
import { type Fields, fieldOf, fieldsOf, isFields, jsonIn } from '../../results/fields.js';
import { generatedText } from './generated-text.js';
import { endedEarly, RequestFailure } from '../request-failure.js';
import { errorInStream, isError, isErrorEvent, isErrorLine } from './server-error.js';
import { type SseEvent, SseParser, type StrayLine } from './sse.js';
import { short, UnknownParts } from './unknown.js';
import { Usage } from './usage.js';

/** The tokens of one stream. Times are of `nowMs`. */
export interface TokenStream {
  /** The id that the server gives the answer; null if it gives none. */
  id: string | null;
  /** When the first chunk was read whose text is more than white space. */
  firstMs: number;
  lastMs: number;
  /** Milliseconds between chunks with tokens, one number fewer than chunks; 0 for two that were read at once. */
  gapsMs: number[];
  /** Chunks of white space before the first. */
  blankChunks: number;
  /** Bytes of the generated text in UTF-8. */
  textBytes: number;
  /** The number of tokens in the server's usage; null if it gives none. */
  usageTokens: number | null;
  /** Why `usageTokens` cannot be right; null where nothing contradicts it. */
  usageDoubt: string | null;
  /** Whether it ended with [DONE]. */
  isDone: boolean;
}

export const DONE = '[DONE]';

export class TokenReader {
  readonly #api: OpenAiApi;
  readonly #unknown: UnknownParts;
  readonly #parser = new SseParser();
  readonly #finish = new FinishReason();
  readonly #usage = new Usage();
  #id: string | null = null;
  #firstMs: number | null = null;
  #lastMs = 0;
  readonly #gapsMs: number[] = [];
  #blankChunks = 0;
  #textBytes = 0;
  #isDone = false;

  constructor(api: OpenAiApi, unknown = new UnknownParts()) {
    this.#api = api;
    this.#unknown = unknown;
  }

  /** Why the server says that the text ends; null as long as it does not. */
  get finishReason(): string | null {
    return this.#finish.reason;
  }

  /** Takes bytes of the body that were read at `atMs`. Throws RequestFailure. */
  push(bytes: Uint8Array, atMs: number): void {
    for (const item of this.#parser.push(bytes)) {
      if (item.kind === 'stray') this.#stray(item);
      else this.#event(item, atMs);
    }
  }

  /**
   * Ends the stream, after the last byte. Throws RequestFailure if it is not whole, did not end successfully or has no
   * token.
   */
  end(): TokenStream {
    const { rest } = this.#parser;
    if (rest !== null && isErrorLine(rest)) throw errorInStream(rest);
    // Some servers leave [DONE] out, but all say why the text ends.
    if (!this.#isDone && this.#finish.reason === null)
      throw endedEarly(rest === null ? this.#after : 'within an event', `without finish_reason or ${DONE}`);
    this.#finish.check(this.#after);
    if (this.#firstMs === null) throw this.#noTokens();
    const [id, firstMs, lastMs, gapsMs] = [this.#id, this.#firstMs, this.#lastMs, this.#gapsMs];
    const [blankChunks, textBytes, usageTokens] = [this.#blankChunks, this.#textBytes, this.#usage.tokens];
    const usageDoubt = this.#usage.doubt({ chunks: this.#chunks, bytes: textBytes });
    return { id, firstMs, lastMs, gapsMs, blankChunks, textBytes, usageTokens, usageDoubt, isDone: this.#isDone };
  }

  /** The number of chunks with text, white space included. */
  get #chunks(): number {
    return this.#blankChunks + (this.#firstMs === null ? 0 : this.#gapsMs.length + 1);
  }

  get #after(): string {
    return `after ${this.#chunks} chunks with tokens`;
  }

  #noTokens(): RequestFailure {
    const blank = this.#blankChunks > 0 ? `but white space (${this.#blankChunks} chunks)` : 'with text';
    const [first] = this.#unknown.list;
    const hint = first ? ` Not understood: ${first.what}, such as '${first.example}'` : '';
    const message = `the stream has no chunk ${blank}: time to first token is undefined.${hint}`;
    return new RequestFailure('no tokens', message);
  }

  #stray({ line }: StrayLine): void {
    if (isErrorLine(line)) throw errorInStream(line);
    this.#unknown.note('a line that is no event', line);
  }

  #event({ type, data }: SseEvent, atMs: number): void {
    if (isErrorEvent(type)) throw errorInStream(data);
    const text = data.trim();
    if (this.#isDone && text === DONE) return this.#unknown.note(`a second ${DONE}`, text);
    if (text === DONE) {
      this.#isDone = true;
      return;
    }
    if (text === '') return this.#unknown.note('empty data', type);
    const value = jsonIn(text);
    if (isError(value)) throw errorInStream(text);
    // What is named need not be a chunk, and nothing has to follow the end.
    if (!isFields(value) && (this.#isDone || type !== 'message'))
      return this.#unknown.note(this.#isDone ? `data after ${DONE}` : `event ${type}`, text);
    this.#chunk(checked(value, text), text, atMs);
  }

  #chunk(chunk: Fields, text: string, atMs: number): void {
    const id = fieldOf(chunk, 'id');
    if (typeof id === 'string') this.#id ??= id;
    const choice = this.#choiceOf(chunk, text);
    const generated = choice ? generatedText(choice, this.#api, this.#unknown) : '';
    if (generated !== '') this.#token(generated, atMs);
    const isLast = choice !== null && this.#finish.note(choice, this.#unknown);
    if (this.#isDone) return this.#unknown.note(`data after ${DONE}`, text);
    this.#usage.note(fieldOf(chunk, 'usage'), { chunks: this.#chunks, bytes: this.#textBytes }, isLast, this.#unknown);
  }

  /** Returns the choice of a chunk; null for a chunk without one, such as that with the usage. */
  #choiceOf(chunk: Fields, text: string): Fields | null {
    const choices = fieldOf(chunk, 'choices');
    if (!Array.isArray(choices)) {
      if (!isFields(fieldOf(chunk, 'usage'))) this.#unknown.note('a chunk without choices', text);
      return null;
    }
    const [first, ...others] = choices as unknown[];
    if (first === undefined) return null;
    if (!isFields(first)) this.#unknown.note('a choice that is no object', text);
    // One answer was asked for.
    if (others.length > 0 || fieldOf(fieldsOf(first), 'index'))
      this.#unknown.note('a choice that is not the first', text);
    return fieldsOf(first);
  }

  #token(text: string, atMs: number): void {
    if (this.#isDone || this.#finish.reason !== null) {
      const end = this.#isDone ? DONE : `finish_reason '${short(this.#finish.reason ?? '')}'`;
      throw new RequestFailure('tokens after the end', `the stream has text after ${end}: '${short(text)}'`);
    }
    this.#textBytes += Buffer.byteLength(text);
    if (this.#firstMs === null && text.trim() === '') {
      this.#blankChunks++;
      return;
    }
    if (this.#firstMs === null) this.#firstMs = atMs;
    else this.#gapsMs.push(atMs - this.#lastMs);
    this.#lastMs = atMs;
  }
}

function checked(value: unknown, text: string): Fields {
  if (isFields(value)) return value;
  const what = value === undefined ? 'JSON' : 'a JSON object';
  throw new RequestFailure('invalid chunk', `Expected a chunk to be ${what} but received '${short(text)}'`);
}
