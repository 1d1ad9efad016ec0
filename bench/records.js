// The records of real GPUs in bench/results/. Documents may be compressed by gzip.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

const RESULTS = fileURLToPath(new URL('results', import.meta.url));

/** All files, by their paths below bench/results/. */
export const recordNames = () =>
  readdirSync(RESULTS, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(RESULTS.length + 1))
    .sort();

export const isJsonRecord = (name) => /\.json(\.gz)?$/.test(name);

/** The text of a JSON record. */
export function recordText(name) {
  const path = join(RESULTS, name);
  if (name.endsWith('.gz')) return gunzipSync(readFileSync(path)).toString();
  return readFileSync(path, 'utf8');
}

/** One after the other. `kind`: `comparison`, `run` or `calibration`. */
export function* jsonRecords() {
  for (const name of recordNames().filter(isJsonRecord)) {
    const content = JSON.parse(recordText(name));
    yield { name, kind: Array.isArray(content) ? 'calibration' : content.kind, content };
  }
}
