/** Splits text that arrives in chunks into lines, and keeps a bounded end of it. */
import { StringDecoder } from 'node:string_decoder';

/** Far longer than our messages; an endless foreign line must not fill the memory. */
const MAX_LINE = 256 * 1024 * 1024;

export class LineSplitter {
  readonly #decoder = new StringDecoder('utf8');
  readonly #onLine: (line: string) => void;
  #pending: string[] = [];
  #pendingLength = 0;

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  push(chunk: Buffer): void {
    const lines = this.#decoder.write(chunk).split('\n');
    const last = lines.pop() ?? '';
    for (const line of lines) {
      this.#onLine(this.#pending.join('') + line);
      this.#pending = [];
    }
    if (last !== '') this.#pending.push(last);
    this.#pendingLength = lines.length > 0 ? last.length : this.#pendingLength + last.length;
    if (this.#pendingLength <= MAX_LINE) return;
    this.#pending = [];
    this.#pendingLength = 0;
  }

  end(): void {
    const rest = this.#pending.join('') + this.#decoder.end();
    this.#pending = [];
    if (rest !== '') this.#onLine(rest);
  }
}

/**
 * A worker's output besides the protocol: its last `limit` characters. Stores up to twice as many, so that a character
 * is copied at most twice, however short the chunks are.
 */
export class BoundedLog {
  readonly #limit: number;
  #text = '';
  #length = 0;

  constructor(limit = 64 * 1024) {
    this.#limit = limit;
  }

  append(text: string): void {
    this.#text += text;
    this.#length += text.length;
    if (this.#text.length > 2 * this.#limit) this.#text = this.text;
  }

  /** Whether its beginning is lost. */
  get isCut(): boolean {
    return this.#length > this.#limit;
  }

  get text(): string {
    return this.#text.slice(-this.#limit);
  }

  lastLines(count: number): string[] {
    return this.text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
      .slice(-count);
  }
}
