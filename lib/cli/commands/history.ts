/** `gpu-virt-bench history [SELECTOR…]` */
import { stat } from 'node:fs/promises';
import { quoted, UsageError } from '../../errors/usage-error.js';
import { metrics } from '../../metrics/registry.js';
import { historyReport } from '../../report/formats/history.js';
import { selectMetrics } from '../../run/plan/select.js';
import { readHistory, trendsOf } from '../../saved/history.js';
import { exitCodes } from '../options/exit-codes.js';
import { parseNumber } from '../options/options.js';
import { writeStdout, writeText } from '../files/output.js';
import { warn } from '../terminal/talk.js';

export interface RawHistoryOptions {
  results?: string;
  store?: string;
  limit: string;
  json?: true;
}

const MOST_DIRECTORIES = 100_000;

export async function history(selectors: string[], { limit, json, ...places }: RawHistoryOptions): Promise<number> {
  await checkNamed(places.results, '--results', 'results');
  await checkNamed(places.store, '--store', 'baselines');
  const { programs, ...found } = await readHistory({ ...places, limit: parseLimit(limit) }, metrics);
  const all = [...metrics, ...programs];
  const selected = selectMetrics(selectors, all);
  const trends = trendsOf(found.entries, selected);
  for (const { path, reason } of found.unreadable) warn(`${path} is skipped: ${reason}`);
  if (json) await writeStdout(`${JSON.stringify({ ...found, trends }, null, 2)}\n`);
  else await writeText(`${historyReport(found, trends)}\n`);
  return exitCodes.ok;
}

/** The default directories may be missing, if nothing was measured yet. */
async function checkNamed(directory: string | undefined, option: string, what: string): Promise<void> {
  if (directory === undefined || (await stat(directory).catch(() => null))) return;
  throw new UsageError(
    `Expected ${option} to be a directory of ${what} but received ${quoted(directory)}: it does not exist.`,
  );
}

function parseLimit(text: string): number {
  const value = parseNumber('--limit', text);
  if (Number.isInteger(value) && value >= 1 && value <= MOST_DIRECTORIES) return value;
  throw new UsageError(`Expected --limit to be an integer from 1 to ${MOST_DIRECTORIES} but received ${quoted(text)}.`);
}
