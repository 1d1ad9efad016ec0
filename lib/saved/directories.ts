/** Directories of results, as `compare` leaves them. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { quoted, UsageError } from '../errors/usage-error.js';
import { readDocument, type Saved, summaryFile } from './read.js';

export const RESULTS = 'results';

export interface ResultsDirectory {
  path: string;
  modifiedMs: number;
}

/** Those with a document, the newest first; nothing where there is no such folder. */
export async function resultDirectories(folder: string): Promise<ResultsDirectory[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new UsageError(`Expected ${quoted(folder)} to be a directory of results: ${error.message}.`);
  });
  const found = await Promise.all(
    entries.map(async ({ name }) => {
      const path = join(folder, name);
      const summary = await summaryFile(path);
      return summary ? [{ path, modifiedMs: summary.modifiedMs }] : [];
    }),
  );
  return found.flat().sort((a, b) => b.modifiedMs - a.modifiedMs || (a.path < b.path ? 1 : -1));
}

export interface NamedDocument extends Saved {
  /** A file or a directory. */
  path: string;
}

/** What the user named, else the newest complete document below ./results. */
export async function namedOrNewest(path: string | undefined): Promise<NamedDocument> {
  if (path !== undefined) return { path, ...(await readDocument(path)) };
  for (const directory of await resultDirectories(RESULTS)) {
    const saved = await readDocument(directory.path).catch(() => null);
    if (saved?.document.completed) return { path: directory.path, ...saved };
  }
  throw new UsageError(
    `Expected a complete comparison below ./${RESULTS} but there is none: name a document or a directory of results.`,
  );
}
