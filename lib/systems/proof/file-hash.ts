import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';

/** SHA-256 in hexadecimal, or null if the file cannot be read. */
export async function sha256(path: string): Promise<string | null> {
  const hash = createHash('sha256');
  try {
    await pipeline(createReadStream(path), hash);
    return hash.digest('hex');
  } catch {
    return null;
  }
}

/** Hashing a file of this size takes about a second. */
const LARGEST_HASHED = 2 ** 30;

/** A text that changes with the file: its hash or, if it is too large or unreadable, its size and time. */
export async function fileState(path: string): Promise<string> {
  const { size, mtimeNs } = await stat(path, { bigint: true });
  const hash = size <= LARGEST_HASHED ? await sha256(path) : null;
  return hash === null ? `${size} bytes, modified at ${mtimeNs} ns` : `SHA-256 ${hash}`;
}
