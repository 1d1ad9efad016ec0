/** Explains why a file cannot be written. */
import { BenchError } from './bench-error.js';

const reasons: Record<string, string> = {
  ENOENT: 'its directory does not exist',
  ENOTDIR: 'its directory is a file',
  EACCES: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space is left on its disk',
  EDQUOT: 'the disk quota is used up',
};

export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return ('code' in error && reasons[String(error.code)]) || error.message;
}

export const unwritable = (what: string, error: unknown): BenchError =>
  new BenchError('NOT_WRITABLE', `Could not write ${what}: ${reasonOf(error)}.`, { cause: error });
