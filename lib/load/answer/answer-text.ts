/** The text of an answer that is no stream of tokens, as far as it may say what went wrong. */
import { isErrorEvent, isErrorLine } from './server-error.js';

/** How much of the text's end is kept: an error ends an answer, and is not longer. */
const MOST_BYTES = 2 ** 16;

export class AnswerText {
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  push(chunk: Buffer): void {
    const kept = chunk.subarray(-MOST_BYTES);
    this.#chunks.push(kept);
    this.#bytes += kept.length;
    while (this.#bytes - (this.#chunks[0]?.length ?? 0) >= MOST_BYTES) this.#bytes -= this.#chunks.shift()?.length ?? 0;
  }

  get isLong(): boolean {
    return this.#bytes >= MOST_BYTES;
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString();
  }

  /** Returns an error that is the whole text, a line of JSON (Ollama streams it so) or an event; null without one. */
  error(): string | null {
    const { text } = this;
    if (isErrorLine(text.trim())) return text;
    const lines = text.split(/[\r\n]+/);
    const at = lines.findIndex((line) => isErrorLine(line.replace(/^data: ?/, '')) || isNamedError(line));
    return at < 0 ? null : lines.slice(at, at + 2).join(' ');
  }
}

const isNamedError = (line: string): boolean => line.startsWith('event:') && isErrorEvent(line.slice('event:'.length));
