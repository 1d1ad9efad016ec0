/** Reads one answer with a status of success, as the API of its endpoint has it. */
import type { IncomingHttpHeaders } from 'node:http';
import { type AskedTokens, checkLength } from './answer-length.js';
import { AnswerText } from './answer-text.js';
import type { LoadApi } from '../load-plan.js';
import { TokenReader, type TokenStream } from './openai.js';
import { RequestFailure } from '../request-failure.js';
import { short, type UnknownPart, UnknownParts } from './unknown.js';

const SHOWN = 300;

export class AnswerReader {
  readonly #unknown = new UnknownParts();
  readonly #tokens: TokenReader | null;
  readonly #asked: AskedTokens;
  #contentType: string | null = null;
  /** The text of an answer that is no stream of tokens; null for a stream, and for an answer that cannot be read. */
  #text: AnswerText | null = null;

  constructor(api: LoadApi, asked: AskedTokens) {
    this.#tokens = api === 'http' ? null : new TokenReader(api, this.#unknown);
    this.#asked = asked;
  }

  get unknown(): UnknownPart[] {
    return this.#unknown.list;
  }

  get finishReason(): string | null {
    return this.#tokens?.finishReason ?? null;
  }

  /** Chooses how the answer is read. Throws RequestFailure, as `onData` and `end` do. */
  onHead(headers: IncomingHttpHeaders): void {
    const coding = headers['content-encoding'] ?? 'identity';
    if (coding.toLowerCase() !== 'identity') return this.#compressed(coding);
    this.#contentType = headers['content-type'] ?? null;
    if (!this.#tokens || !isStream(this.#contentType)) this.#text = new AnswerText();
  }

  onData(chunk: Buffer, atMs: number): void {
    if (!this.#text) return this.#tokens?.push(chunk, atMs);
    this.#text.push(chunk);
    // It may never end.
    if (this.#tokens && this.#text.isLong) this.#checkText(this.#text);
  }

  /** Returns the tokens of the answer; null for an endpoint that streams none. */
  end(): TokenStream | null {
    if (this.#text) this.#checkText(this.#text);
    const stream = this.#tokens?.end() ?? null;
    return stream && { ...stream, usageDoubt: checkLength(stream, this.#asked, this.finishReason) };
  }

  #compressed(coding: string): void {
    if (!this.#tokens) return this.#unknown.note('content-encoding', coding);
    throw new RequestFailure(
      'compressed answer',
      `Expected an answer that is not compressed, as accept-encoding says, but received content-encoding '${short(coding)}'`,
    );
  }

  #checkText(body: AnswerText): void {
    const error = body.error();
    if (error !== null)
      throw new RequestFailure(
        'error in the body',
        `the answer has a status of success and an error: ${short(error, SHOWN)}`,
      );
    if (this.#tokens) throw notAStream(this.#contentType, body.text);
  }
}

const isStream = (contentType: string | null): boolean =>
  contentType?.split(';')[0]?.trim().toLowerCase() === 'text/event-stream';

/** The body asks for streaming; a server that does not know it answers with one JSON text. */
function notAStream(contentType: string | null, text: string): RequestFailure {
  const received = contentType === null ? 'none' : `'${short(contentType)}'`;
  return new RequestFailure(
    'not a stream',
    `Expected the answer to have content-type text/event-stream but received ${received}: does the server stream? It sent: ${short(text, SHOWN) || 'nothing'}`,
  );
}
