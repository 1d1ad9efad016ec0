/** What a run prints: the beginning and the end in memory, the first 16 MiB in a log file, and its length. */
import type { WriteStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { LineSplitter } from '../../workers/lines.js';
import { closed, cutText, LOG_BYTES, newFile, unwrittenText } from './run-file.js';

/** How much of the beginning and of the end of a stream is kept in memory. */
export const IN_MEMORY_BYTES = 2 ** 20;
const LONGEST_LINE = 64 * 1024;
const NEWLINE = 0x0a;
/** Lines and characters of a message's last words. */
const WORDS = 3;
const LONGEST = 500;
/** `torch.AcceleratorError: CUDA error: …` */
const EXCEPTION = /^(\w+\.)*\w*(Error|Exception): ./;

/** One of the two streams of a run. */
export class Captured {
  readonly #head: Buffer[] = [];
  readonly #tail: Buffer[] = [];
  readonly #path: string | null;
  readonly #lines: LineSplitter;
  #log: WriteStream | null = null;
  #logFailure: string | null = null;
  #headBytes = 0;
  #tailBytes = 0;
  #bytes = 0;
  #onLine: ((line: string) => void) | null = null;

  /** Captures a stream. `path`: the log file, which is created with the first output; null keeps none. */
  constructor(stream: Readable, path: string | null) {
    this.#path = path;
    this.#lines = new LineSplitter((line) => this.#onLine?.(line));
    stream.on('data', (chunk: Buffer) => this.#add(chunk));
    // The stream was destroyed after the end: what was read is kept.
    stream.on('error', () => {});
  }

  /** Gets every line (its first 64 KiB), also those that were printed before this was set; null ends it. */
  set onLine(listener: ((line: string) => void) | null) {
    this.#onLine = listener && ((line) => listener(line.slice(0, LONGEST_LINE)));
    if (listener) for (const part of this.#parts()) this.#lines.push(part);
  }

  /** Number of bytes that were printed. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The whole output, or if `tail` is not null the whole lines at its beginning. */
  get head(): string {
    return (this.#parts()[0] as Buffer).toString('utf8');
  }

  /** The whole lines at the end of the output; null if nothing in the middle is missing. */
  get tail(): string | null {
    return this.#parts()[1]?.toString('utf8') ?? null;
  }

  /** Returns the parts in memory, without the halves of the lines at the cut. */
  #parts(): Buffer[] {
    if (!this.#isCut) return [Buffer.concat([...this.#head, ...this.#tail])];
    const [head, tail] = [Buffer.concat(this.#head), Buffer.concat(this.#tail)];
    const newline = tail.indexOf(NEWLINE);
    return [
      head.subarray(0, head.lastIndexOf(NEWLINE) + 1),
      newline < 0 ? Buffer.alloc(0) : tail.subarray(newline + 1),
    ];
  }

  get #isCut(): boolean {
    return this.#bytes > this.#headBytes + this.#tailBytes;
  }

  /** The last lines, shortened for a message. Advice behind an exception, as of PyTorch, does not hide it. */
  lastWords(): string {
    const lines = Buffer.concat([...this.#head, ...this.#tail].slice(-8))
      .toString('utf8')
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
    const thrown = lines.findLastIndex((line) => EXCEPTION.test(line));
    const isHidden = thrown >= 0 && thrown < lines.length - WORDS;
    const last = lines.slice(isHidden ? 1 - WORDS : -WORDS).join(' | ');
    if (!isHidden) return last.slice(-LONGEST);
    const first = (lines[thrown] as string).slice(0, LONGEST / 2);
    return `${first} | … | ${last.slice(first.length - LONGEST)}`;
  }

  /** Returns why the log is not complete; null if it is. */
  async close(): Promise<string | null> {
    this.#lines.end();
    if (this.#log) await closed(this.#log);
    if (this.#logFailure !== null) return this.#logFailure;
    return this.#path === null || this.#bytes <= LOG_BYTES ? null : cutText(this.#path, this.#bytes);
  }

  #add(chunk: Buffer): void {
    if (this.#onLine) this.#lines.push(chunk);
    this.#write(chunk);
    this.#bytes += chunk.length;
    const toHead = chunk.subarray(0, Math.max(0, IN_MEMORY_BYTES - this.#headBytes));
    const rest = chunk.subarray(toHead.length);
    if (toHead.length > 0) this.#head.push(Buffer.from(toHead));
    this.#headBytes += toHead.length;
    if (rest.length > 0) this.#addToTail(Buffer.from(rest.subarray(-IN_MEMORY_BYTES)));
  }

  #addToTail(rest: Buffer): void {
    this.#tail.push(rest);
    this.#tailBytes += rest.length;
    while (this.#tailBytes > IN_MEMORY_BYTES && this.#tail.length > 1)
      this.#tailBytes -= (this.#tail.shift() as Buffer).length;
  }

  #write(chunk: Buffer): void {
    const room = LOG_BYTES - this.#bytes;
    if (this.#path === null || room <= 0 || this.#logFailure !== null) return;
    const path = this.#path;
    this.#log ??= newFile(path, (error) => {
      this.#logFailure = unwrittenText(path, error);
    });
    this.#log?.write(chunk.subarray(0, room));
  }
}
