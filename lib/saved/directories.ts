/** Directories of results that `compare` wrote. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../errors/message-of.js';
import { quoted, UsageError } from '../errors/usage-error.js';
import { readDocument, type Saved, summaryFile } from './read.js';

export const RESULTS = 'results';

/** Folder in a run's directory with every finished round, written before there is a summary. */
export const RAW = 'raw';

export interface ResultsDirectory {
  path: string;
  modifiedMs: number;
}

/** Newest first, including runs that were interrupted before their summary; empty if there is no such folder. */
export async function resultDirectories(folder: string): Promise<ResultsDirectory[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new UsageError(`Expected ${quoted(folder)} to be a directory of results: ${error.message}.`);
  });
  const found = await Promise.all(
    entries.map(async ({ name }) => {
      const path = join(folder, name);
      const modifiedMs = (await summaryFile(path))?.modifiedMs ?? (await rawFolderMs(path));
      return modifiedMs === null ? [] : [{ path, modifiedMs }];
    }),
  );
  return found.flat().sort((a, b) => b.modifiedMs - a.modifiedMs || (a.path < b.path ? 1 : -1));
}

async function rawFolderMs(path: string): Promise<number | null> {
  const found = await stat(join(path, RAW)).catch(() => null);
  return found?.isDirectory() ? found.mtimeMs : null;
}

export interface NamedDocument extends Saved {
  /** A file or a directory. */
  path: string;
  /** Newer directories that were skipped, as messages. */
  skipped: string[];
}

/** The path that the user named, else the newest complete document below ./results. */
export async function namedOrNewest(path: string | undefined): Promise<NamedDocument> {
  if (path !== undefined) return { path, ...(await readDocument(path)), skipped: [] };
  const skipped: string[] = [];
  for (const { path: directory } of await resultDirectories(RESULTS))
    try {
      const saved = await readDocument(directory);
      if (saved.document.completed) return { path: directory, ...saved, skipped };
      skipped.push(`${directory} is skipped: it was interrupted.`);
    } catch (error) {
      skipped.push(`${directory} is skipped: ${messageOf(error)}`);
    }
  const why = skipped.length > 0 ? ` (${skipped.map((each) => each.replace(/\.$/, '')).join('; ')})` : '';
  throw new UsageError(
    `Expected a complete comparison below ./${RESULTS} but there is none${why}: name a document or a directory of results.`,
  );
}
