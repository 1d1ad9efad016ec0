/** The document that a command reads: the one that the user named, or the newest. */
import { messageOf } from '../errors/message-of.js';
import { UsageError } from '../errors/usage-error.js';
import { RESULTS, resultDirectories } from './directories.js';
import { readDocument, type Saved } from './read.js';

interface NamedDocument extends Saved {
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
