import type { FileHandle } from 'node:fs/promises';

/**
 * Reads at most `size` bytes into one buffer: collecting pieces takes three times the memory for a large file, and a file
 * that grows while it is read would never end.
 */
export async function readWhole(handle: FileHandle, size: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(size);
  let length = 0;
  while (length < size) {
    const { bytesRead } = await handle.read(buffer, length, size - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}
