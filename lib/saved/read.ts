/**
 * Reads a saved result document from a file or a run's directory: it must be complete, plausible and of a known
 * version.
 */
import { open, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import * as v from 'valibot';
import {
  type ComparisonDocument,
  comparisonDocumentSchema,
  type RunDocument,
  runDocumentSchema,
  SCHEMA_VERSION,
} from '../results/document.js';
import { whyUnreadable } from '../errors/unreadable.js';
import { quoted, UsageError } from '../errors/usage-error.js';
import { boundedJson, JsonBoundsError } from '../results/bounded-json.js';
import { plain } from '../results/text/plain.js';
import { firstTwice } from '../results/first-twice.js';
import { issueText } from '../results/issue-text.js';
import { isComparison, type ResultDocument, roundsOf } from '../results/kinds.js';
import { upgraded } from '../results/upgraded.js';
import { upToDate } from '../run/effects/judged.js';
import { SUMMARY, whyNoResult } from './directories.js';
import { plausible } from './plausible.js';
import { unitClash } from './unit-clash.js';
import { readWhole } from './whole-file.js';

/** Name of the file in a comparison's directory that holds its systems, for --config. */
export const SYSTEMS = 'systems.yaml';

/** A comparison of 56 metrics, 4 systems and 10 rounds with a thousand raw samples each has 95 MB. */
export const MAX_MIB = 256;

export interface Saved {
  document: ResultDocument;
  /** Impossible values; those results are `invalid` in `document`. */
  problems: string[];
}

/** Throws UsageError, which names the file and the problem. */
export async function readDocument(path: string): Promise<Saved> {
  const { file, text } = await readText(path);
  return plausible(upToDate(await withOwnSystems(file, checked(file, parsed(file, text)))));
}

/** The same of a text that was read already; `file` is its name in errors. */
export const documentIn = (file: string, text: string): Saved => plausible(upToDate(checked(file, parsed(file, text))));

/** The directory may have been moved since it was written. */
async function withOwnSystems(file: string, document: ResultDocument): Promise<ResultDocument> {
  if (!isComparison(document) || document.plan.config === undefined || basename(file) !== SUMMARY) return document;
  const config = join(dirname(file), SYSTEMS);
  const isThere = await stat(config).then(
    (found) => found.isFile(),
    () => false,
  );
  return isThere ? { ...document, plan: { ...document.plan, config } } : document;
}

const refused = (file: string, why: string): UsageError =>
  new UsageError(`Expected a result document but received ${quoted(file)}: ${why}.`);

async function readText(path: string): Promise<{ file: string; text: string }> {
  let file = path;
  try {
    let found = await stat(file);
    if (found.isDirectory()) {
      file = join(path, SUMMARY);
      const summary = await stat(file).catch(() => null);
      if (summary === null) throw refused(path, await whyNoResult(path));
      found = summary;
    }
    // Reading a device may never end.
    if (!found.isFile()) throw refused(file, 'it is not a regular file');
    if (found.size > MAX_MIB * 2 ** 20)
      throw refused(
        file,
        `it has ${Math.round(found.size / 2 ** 20)} MiB, ${MAX_MIB} at most are read: measure without --samples`,
      );
    return { file, text: await textIn(file, found.size) };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw refused(file, whyUnreadable(error));
  }
}

async function textIn(file: string, size: number): Promise<string> {
  const handle = await open(file);
  try {
    return (await readWhole(handle, size)).toString('utf8');
  } finally {
    await handle.close();
  }
}

function parsed(file: string, text: string): unknown {
  try {
    return boundedJson(text);
  } catch (error) {
    if (error instanceof JsonBoundsError) throw refused(file, error.message);
    // Leaves out the parser's message, which quotes the file's contents.
    const why = text.trim() === '' ? 'it is empty' : 'it is not complete JSON; it may have been cut off';
    throw refused(file, why);
  }
}

const versioned = v.object({ schemaVersion: v.number(), kind: v.string() });

function checked(file: string, content: unknown): ResultDocument {
  const value = upgraded(content);
  const head = v.safeParse(versioned, value);
  if (!head.success) throw refused(file, 'it has no schemaVersion and kind, as gpu-virt-bench --json writes them');
  const { kind, schemaVersion } = head.output;
  if (schemaVersion > SCHEMA_VERSION)
    throw refused(
      file,
      `it is of schema version ${schemaVersion} and this gpu-virt-bench reads ${SCHEMA_VERSION}: read it with the version that wrote it, or a newer one`,
    );
  if (kind === 'run') return consistent(file, valid(file, v.safeParse(runDocumentSchema, value, { abortEarly: true })));
  if (kind === 'comparison')
    return consistent(file, valid(file, v.safeParse(comparisonDocumentSchema, value, { abortEarly: true })));
  throw refused(file, `its kind is ${quoted(kind)} and not run or comparison`);
}

type Checked<T> = { success: true; output: T } | { success: false; issues: [v.BaseIssue<unknown>, ...unknown[]] };

function valid<T>(file: string, result: Checked<T>): T {
  if (result.success) return result.output;
  throw refused(file, issueText(result.issues[0]));
}

/** Longer than any measurement, yet sums of many stay finite. */
const LONGEST_MS = 1e12;

/** Checks what the schema cannot express: which rounds belong to which system, and that nothing occurs twice. */
function consistent<T extends ResultDocument>(file: string, document: T): T {
  const rounds = roundsOf(document);
  const problem =
    (isComparison(document) ? misplaced(document) : null) ??
    unitClash(rounds) ??
    rounds.map(metricTwice).find((each) => each !== null);
  if (problem) throw refused(file, problem);
  if ([document, ...rounds].some(({ durationMs }) => !(durationMs >= 0 && durationMs <= LONGEST_MS)))
    throw refused(file, `its duration is negative or more than ${LONGEST_MS} ms`);
  return document;
}

function misplaced({ systems, plan, effects }: ComparisonDocument): string | null {
  // Compares names as reports print them: two that print alike would be mixed up there.
  if (new Set(plan.systems.map(plain)).size !== plan.systems.length) return 'two of its systems have the same name';
  const named = plan.systems.length === systems.length;
  if (!named || systems.some((rounds, index) => rounds.some(({ system }) => system.name !== plan.systems[index])))
    return 'its rounds do not match the systems in its plan';
  const twice = firstTwice(effects.map(({ metric, system }) => `${metric} of ${system}`));
  return twice === null ? null : `it has two effects in ${quoted(twice)}`;
}

function metricTwice({ metrics }: RunDocument): string | null {
  const twice = firstTwice(metrics.map(({ id }) => id));
  return twice === null ? null : `it has ${twice} twice in a round`;
}
