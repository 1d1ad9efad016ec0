/** Files that are kept of one run: bounded, and never written over anything. */
import { createWriteStream, mkdirSync, type WriteStream } from 'node:fs';
import { dirname } from 'node:path';
import { quoted } from '../../errors/usage-error.js';

const MIB = 2 ** 20;
/** The largest size of each file. */
export const LOG_BYTES = 16 * MIB;

/** Returns null and calls `failed` if the file cannot be made. `failed` may also be called later. */
export function newFile(path: string, failed: (error: Error) => void): WriteStream | null {
  try {
    mkdirSync(dirname(path), { recursive: true });
  } catch (error) {
    failed(error as Error);
    return null;
  }
  // Never through a link, nor over a file of somebody else.
  return createWriteStream(path, { flags: 'wx', autoClose: true }).on('error', failed);
}

/** Resolves when everything is written, or has failed. */
export const closed = (file: WriteStream): Promise<void> =>
  new Promise((resolve) => (file.closed ? resolve() : file.once('close', resolve).end()));

export const unwrittenText = (path: string, error: Error): string =>
  `${quoted(path)} could not be written: ${error.message}`;

export const cutText = (path: string, bytes: number): string =>
  `${quoted(path)} holds the first ${LOG_BYTES / MIB} MiB of ${bytes} bytes`;

/** A file of lines, which is made with the first one and keeps as many as fit. */
export class RunLines {
  readonly #path: string;
  #file: WriteStream | null = null;
  #failure: string | null = null;
  #kept = 0;
  #bytes = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** Writes whole lines with their ends, as many as fit. */
  write(lines: string): void {
    const bytes = Buffer.byteLength(lines);
    // Nothing after the first that did not fit: a file with a gap would look whole.
    const isKept = this.#failure === null && this.#kept === this.#bytes && this.#kept + bytes <= LOG_BYTES;
    this.#bytes += bytes;
    if (!isKept) return;
    this.#kept += bytes;
    this.#file ??= newFile(this.#path, (error) => {
      this.#failure = unwrittenText(this.#path, error);
    });
    this.#file?.write(lines);
  }

  /** Returns why the file is not complete; null if it is. */
  async close(): Promise<string | null> {
    if (this.#file) await closed(this.#file);
    return this.#failure ?? (this.#kept === this.#bytes ? null : cutText(this.#path, this.#bytes));
  }
}
