/** Reads files that others write and that are not trusted: links, pipes and devices are refused, and the size is bounded. */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { whyUnreadable } from '../errors/unreadable.js';
import { readWhole } from './whole-file.js';

/** `why` continues a sentence about the file. */
export class UnreadableError extends Error {
  constructor(
    readonly why: string,
    readonly isMissing = false,
  ) {
    super(why);
    this.name = 'UnreadableError';
  }
}

/** The bytes of a regular file that is no link; throws UnreadableError. */
export async function bytesOf(file: string, mostBytes: number): Promise<Buffer> {
  let handle: FileHandle;
  try {
    // Without O_NONBLOCK, opening a named pipe would wait for its writer.
    handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ELOOP') throw new UnreadableError('it is a symbolic link, which could lead anywhere');
    throw new UnreadableError(whyUnreadable(error), code === 'ENOENT' || code === 'ENOTDIR');
  }
  try {
    const found = await handle.stat();
    if (!found.isFile()) throw new UnreadableError('it is not a regular file');
    if (found.size > mostBytes)
      throw new UnreadableError(`it has ${found.size} bytes, and ${mostBytes} at most are read`);
    return await readWhole(handle, found.size);
  } catch (error) {
    throw error instanceof UnreadableError ? error : new UnreadableError(whyUnreadable(error));
  } finally {
    await handle.close();
  }
}
