/**
 * Reads the log of a container while podman's driver `k8s-file` writes it. A line of it is `TIME STREAM F TEXT`, or has P in
 * place of F where the text goes on in the next one.
 */
import { closeSync, openSync, readSync } from 'node:fs';

const CHUNK_BYTES = 64 * 1024;
const [NEWLINE, SPACE, PART] = [0x0a, 0x20, 0x50];

export class ContainerLog {
  readonly #path: string;
  readonly #write: (stream: 'stdout' | 'stderr', text: Buffer) => void;
  #file: number | null = null;
  #rest = Buffer.alloc(0);

  constructor(path: string, write: (stream: 'stdout' | 'stderr', text: Buffer) => void) {
    [this.#path, this.#write] = [path, write];
  }

  /** Reads all that is there now. */
  read(): void {
    try {
      this.#file ??= openSync(this.#path, 'r');
    } catch {
      // Nothing has been logged yet.
      return;
    }
    const chunk = Buffer.alloc(CHUNK_BYTES);
    for (let length = CHUNK_BYTES; length === CHUNK_BYTES;) {
      length = readSync(this.#file, chunk);
      this.#add(chunk.subarray(0, length));
    }
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
  }

  #add(chunk: Buffer): void {
    const all = Buffer.concat([this.#rest, chunk]);
    let from = 0;
    for (let end = all.indexOf(NEWLINE); end >= 0; end = all.indexOf(NEWLINE, from)) {
      this.#line(all.subarray(from, end));
      from = end + 1;
    }
    this.#rest = all.subarray(from);
  }

  #line(line: Buffer): void {
    const stream = line.indexOf(SPACE) + 1;
    const tag = line.indexOf(SPACE, stream) + 1;
    const text = line.subarray(tag + 2);
    const whole = line[tag] === PART ? text : Buffer.concat([text, Buffer.of(NEWLINE)]);
    this.#write(line.subarray(stream, tag - 1).toString() === 'stderr' ? 'stderr' : 'stdout', whole);
  }
}
