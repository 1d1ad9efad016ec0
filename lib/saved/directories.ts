/** Directories of results that `compare` wrote. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { quoted, UsageError } from '../errors/usage-error.js';

export const RESULTS = 'results';

/** Folder in a run's directory with every finished round, written before there is a summary. */
export const RAW = 'raw';

/** Name of the summary in a run's directory. */
export const SUMMARY = 'summary.json';

interface ResultsDirectory {
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
      const modifiedMs = (await summaryMs(path)) ?? (await rawFolderMs(path));
      return modifiedMs === null ? [] : [{ path, modifiedMs }];
    }),
  );
  return found.flat().sort((a, b) => b.modifiedMs - a.modifiedMs || (a.path < b.path ? 1 : -1));
}

async function rawFolderMs(path: string): Promise<number | null> {
  const found = await stat(join(path, RAW)).catch(() => null);
  return found?.isDirectory() ? found.mtimeMs : null;
}

/** When the summary in a run's directory was written, or null if there is none. */
async function summaryMs(directory: string): Promise<number | null> {
  const found = await stat(join(directory, SUMMARY)).catch(() => null);
  return found?.isFile() ? found.mtimeMs : null;
}

/** Why a directory without a summary is no result, and which one inside it, or which command, was probably meant. */
export async function whyNoResult(directory: string): Promise<string> {
  const missing = `it has no ${SUMMARY}`;
  if ((await rawFolderMs(directory)) !== null)
    return `${missing}, because it was interrupted: continue it with --resume ${directory}`;
  const paths = (await resultDirectories(directory)).map(({ path }) => path);
  const finished = await Promise.all(paths.map(summaryMs));
  const [newest, ...older] = paths.filter((_, index) => finished[index] !== null);
  if (newest === undefined) return missing;
  return older.length === 0
    ? `${missing}: name the result in it, ${newest}`
    : `${missing}: name one of the ${older.length + 1} results in it, such as ${newest}, the newest`;
}
