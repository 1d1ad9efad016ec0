/**
 * Streams of OpenAI-compatible servers: /v1/chat/completions and /v1/completions with `stream: true`, as the API
 * reference of OpenAI describes them and vLLM, llama.cpp, SGLang and TGI send them.
 */
import { RequestFailure } from './request-failure.js';
import { SseParser } from './sse.js';

export type OpenAiApi = 'chat' | 'completions';

/** The tokens of one stream. Times are of `nowMs`. */
export interface TokenStream {
  /** The id that the server gives the answer; null if it gives none. */
  id: string | null;
  /** When the first chunk with a token was read. */
  firstMs: number;
  lastMs: number;
  /** Between chunks with tokens that follow each other: one fewer than chunks. Two that were read at once have 0. */
  gapsMs: number[];
  /** The number of tokens in the server's usage; null if it gives none. */
  usageTokens: number | null;
}

const SHOWN = 120;

export class TokenReader {
  readonly #api: OpenAiApi;
  readonly #parser = new SseParser();
  #id: string | null = null;
  #firstMs: number | null = null;
  #lastMs = 0;
  readonly #gapsMs: number[] = [];
  #usageTokens: number | null = null;
  #isFinished = false;
  #isDone = false;

  constructor(api: OpenAiApi) {
    this.#api = api;
  }

  /** Bytes of the body that were read at `atMs`. Throws RequestFailure. */
  push(bytes: Uint8Array, atMs: number): void {
    // What follows the end of the stream belongs to nothing.
    if (this.#isDone) return;
    for (const { data } of this.#parser.push(bytes)) {
      this.#isDone = data.trim() === '[DONE]';
      if (this.#isDone) return;
      this.#chunk(parsed(data), atMs);
    }
  }

  /** After the body's end. Throws RequestFailure where the stream is not whole or has no token. */
  end(): TokenStream {
    // Some servers leave [DONE] out, but all say why the text ends.
    if (!this.#isDone && !this.#isFinished) {
      const where = this.#parser.isWithinEvent ? 'within an event' : `after ${this.#chunks} chunks with tokens`;
      throw new RequestFailure('stream ended early', `the stream ended ${where}, without finish_reason or [DONE]`);
    }
    if (this.#firstMs === null)
      throw new RequestFailure('no tokens', 'the stream has no chunk with text: time to first token is undefined');
    const [id, firstMs, lastMs] = [this.#id, this.#firstMs, this.#lastMs];
    return { id, firstMs, lastMs, gapsMs: this.#gapsMs, usageTokens: this.#usageTokens };
  }

  get #chunks(): number {
    return this.#firstMs === null ? 0 : this.#gapsMs.length + 1;
  }

  #chunk(chunk: Fields, atMs: number): void {
    if (chunk.error !== undefined && chunk.error !== null)
      throw new RequestFailure(
        'error in the stream',
        `the server sent an error: ${short(JSON.stringify(chunk.error))}`,
      );
    if (typeof chunk.id === 'string') this.#id ??= chunk.id;
    const tokens = fieldsOf(chunk.usage).completion_tokens;
    if (typeof tokens === 'number' && Number.isSafeInteger(tokens) && tokens >= 0) this.#usageTokens = tokens;
    const choice = Array.isArray(chunk.choices) ? fieldsOf(chunk.choices[0]) : {};
    if (hasToken(choice, this.#api)) this.#token(atMs);
    if (typeof choice.finish_reason === 'string') this.#isFinished = true;
  }

  #token(atMs: number): void {
    if (this.#firstMs === null) this.#firstMs = atMs;
    else this.#gapsMs.push(atMs - this.#lastMs);
    this.#lastMs = atMs;
  }
}

/** Streaming is asked for by the body; a server that does not know it answers with one JSON text. */
export function checkStream(contentType: string | undefined): void {
  if (contentType?.split(';')[0]?.trim().toLowerCase() === 'text/event-stream') return;
  const received = contentType === undefined ? 'none' : `'${short(contentType)}'`;
  throw new RequestFailure(
    'not a stream',
    `Expected the answer to have content-type text/event-stream but received ${received}: does the server stream?`,
  );
}

/** A JSON object whose fields are not known to be there. */
type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {});

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';

/**
 * A chunk counts if it carries generated text: an answer's, a reasoning model's (`reasoning_content` of vLLM and SGLang,
 * `reasoning` of newer ones), or the name or arguments of a tool call. The role, usage and the end alone are no token.
 */
function hasToken(choice: Fields, api: OpenAiApi): boolean {
  if (api === 'completions') return isText(choice.text);
  const delta = fieldsOf(choice.delta);
  if (isText(delta.content) || isText(delta.reasoning_content) || isText(delta.reasoning)) return true;
  const called = Array.isArray(delta.tool_calls)
    ? delta.tool_calls.map((call) => fieldsOf(fieldsOf(call).function))
    : [];
  return called.some(({ name, arguments: given }) => isText(name) || isText(given));
}

function parsed(data: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    throw new RequestFailure('invalid chunk', `Expected a chunk to be JSON but received '${short(data)}'`);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw new RequestFailure('invalid chunk', `Expected a chunk to be a JSON object but received '${short(data)}'`);
}

const short = (text: string): string => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);
