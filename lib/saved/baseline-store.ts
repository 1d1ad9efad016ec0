/** Stored baselines: named documents, one file each, meant to be committed beside the code that they guard. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { didYouMean } from '../errors/closest.js';
import { quoted, UsageError } from '../errors/usage-error.js';
import { type ResultDocument, roundsOf } from '../results/kinds.js';
import { isUnattested } from './attested.js';
import { gatePart } from './gate-part.js';
import { readDocument, type Saved } from './read.js';
import { relabelled } from './relabelled.js';

export const STORE = 'baselines';

/** Portable file names: no option, no hidden file, no other directory. */
const pattern = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$/;

export interface Baseline {
  name: string;
  document: ResultDocument;
}

/** Throws UsageError for an invalid name. */
export function baselineFile(store: string, name: string): string {
  if (!pattern.test(name))
    throw new UsageError(
      `Expected the name of a baseline to be up to 100 letters, digits, '.', '_' and '-', not starting with '.' or '-', but received ${quoted(name)}.`,
    );
  return join(store, `${name}.json`);
}

export async function readBaseline(store: string, name: string): Promise<Baseline & Saved> {
  const file = baselineFile(store, name);
  const names = await baselineNames(store);
  if (!names.includes(name)) throw unknownBaseline(store, name, names);
  return { name, ...(await readDocument(file)) };
}

/** Sorted; empty if there is no store. */
export async function baselineNames(store: string): Promise<string[]> {
  const files = await readdir(store).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new UsageError(
      `Expected --store to be a directory of baselines but received ${quoted(store)}: ${error.message}.`,
    );
  });
  return files
    .filter((file) => file.endsWith('.json'))
    .map((file) => file.slice(0, -'.json'.length))
    .filter((name) => pattern.test(name))
    .sort();
}

export function unknownBaseline(store: string, name: string, names: readonly string[]): UsageError {
  const all =
    names.length === 0
      ? 'there is none; create one with baseline save.'
      : `there ${names.length === 1 ? 'is' : 'are'} ${names.join(', ')}.`;
  const hint = didYouMean(name, names, all);
  return new UsageError(`Expected a baseline in ${quoted(store)} but received ${quoted(name)}: ${hint}`);
}

/** Why a document cannot be a baseline, or null: later comparisons must be able to rely on it. */
export function notABaseline({ document, problems }: Saved): string | null {
  const rounds = roundsOf(document);
  const unproven = rounds.find(isUnattested);
  if (problems.length > 0) return `it is damaged: ${problems.join('; ')}`;
  if (!document.completed) return 'it was interrupted, so rounds are missing';
  if (unproven) return `${unproven.system.name} was not shown to be active`;
  if (!rounds.some(({ metrics }) => metrics.some(({ value }) => value !== null))) return 'it contains no value';
  return null;
}

/** Replaces system labels by those in `labels` for the same systems. */
export const relabelledBaseline = ({ document, ...rest }: Baseline, labels: readonly string[]): Baseline => ({
  ...rest,
  document: relabelled(document, labels),
});

/** The stored form. */
export const baselineText = (document: ResultDocument): string => `${JSON.stringify(gatePart(document))}\n`;
