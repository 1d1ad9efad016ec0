/** A file that grows by whole lines, so that whoever reads or kills the monitor finds none that is cut off. */
import { type FileHandle, open } from 'node:fs/promises';
import { unwritable } from '../errors/unwritable.js';
import { quoted } from '../errors/usage-error.js';

/** Where lines go. Both reject with an error that names the place and says why. */
export interface LineSink {
  /** Whole lines. */
  write: (lines: string) => Promise<void>;
  close: () => Promise<void>;
}

/** Replaces what is in the file. */
export async function csvFile(path: string): Promise<LineSink> {
  const failure = (error: unknown) => unwritable(quoted(path), error);
  try {
    const file = await open(path, 'w');
    const isRegular = (await file.stat()).isFile();
    return sinkOf(file, isRegular, failure);
  } catch (error) {
    throw failure(error);
  }
}

export function sinkOf(
  file: Pick<FileHandle, 'write' | 'truncate' | 'sync' | 'close'>,
  isRegular: boolean,
  failure: (error: unknown) => Error,
): LineSink {
  let whole = 0;
  return {
    write: async (lines) => {
      const bytes = Buffer.from(lines);
      let written = 0;
      try {
        // A disk that is almost full takes a part, and refuses the rest at the next call.
        while (written < bytes.length) written += (await file.write(bytes, written)).bytesWritten;
        whole += written;
      } catch (error) {
        // The lines that did not fit would end in half a one. Where cutting fails too, the first error is what counts.
        if (isRegular && written > 0) await file.truncate(whole).catch(() => undefined);
        throw failure(error);
      }
    },
    close: async () => {
      try {
        // A file system may only say now that there is no space; a pipe has nothing to sync.
        if (isRegular) await file.sync();
      } catch (error) {
        throw failure(error);
      } finally {
        await file.close();
      }
    },
  };
}
