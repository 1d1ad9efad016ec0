/** The number of a metric in what one run printed or wrote. */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { messageOf } from '../../errors/message-of.js';
import { quoted } from '../../errors/usage-error.js';
import { boundedJson, JsonBoundsError } from '../../results/bounded-json.js';
import { mean } from '../../stats/mean.js';
import { median } from '../../stats/median.js';
import { percentileFloors, summarise } from '../../stats/summary.js';
import { firstGroups } from '../../systems/input/pattern.js';
import { pointed } from './json-pointer.js';
import { numbersInLines } from './lines-of-json.js';
import { type Captured, IN_MEMORY_BYTES } from '../program/output.js';
import type { Choice, Extraction, ExtractedMetric } from '../workload-type.js';

/** Most bytes that are read of a file that a run wrote. */
const MOST_FILE_BYTES = 64 * 2 ** 20;
const LONGEST_QUOTE = 80;

export type Extracted =
  | {
      value: number;
      /** How many numbers the value was chosen from. */
      numbers: number;
      notes: string[];
    }
  | { missing: string };

interface RunOutput {
  stdout: Captured;
  stderr: Captured;
  cwd: string;
  /** The state, before the run, of the files that metrics read. */
  before: FileStates;
  signal: AbortSignal;
}

interface FileState {
  /** Identifies the state: it changes with every write and every touch. */
  id: string;
  inode: bigint;
  size: bigint;
  /** Time of the last read; `mtimeNs` is that of the last write. */
  atimeNs: bigint;
  mtimeNs: bigint;
  /** SHA-256 of the file's content; null for a file that is not read. */
  hash: string | null;
}

/** States of files by path; null for a file that did not exist. */
export type FileStates = ReadonlyMap<string, FileState | null>;

async function stateOf(path: string): Promise<Omit<FileState, 'hash'> | null> {
  try {
    const { ino: inode, size, atimeNs, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return { id: [inode, size, mtimeNs, ctimeNs].join('-'), inode, size, atimeNs, mtimeNs };
  } catch {
    return null;
  }
}

const hashOf = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

async function stateBefore(path: string): Promise<FileState | null> {
  const content = await contentOf(path);
  // After the read, which changes the file's time.
  const state = await stateOf(path);
  return state && { ...state, hash: 'missing' in content ? null : hashOf(content.content) };
}

/** Notes the state of files before a run, so that one that an earlier run left is not read as this run's. */
export async function fileStates(metrics: readonly ExtractedMetric[], cwd: string): Promise<FileStates> {
  const files = metrics.flatMap(({ from }) => (typeof from === 'string' ? [] : [resolve(cwd, from.file)]));
  const states = new Map<string, FileState | null>();
  for (const file of new Set(files)) states.set(file, await stateBefore(file));
  return states;
}

/** Extracts the number of a metric. Rejects only with the reason of the signal. */
export async function extract(metric: ExtractedMetric, output: RunOutput): Promise<Extracted> {
  const found = await textOf(metric, output);
  if ('missing' in found) return found;
  const numbers = await numbersIn(metric.pick, found.text, output.signal);
  if ('missing' in numbers) return { missing: `${numbers.missing}${found.cut ?? ''}` };
  const { values, notes } = numbers;
  const value = chosen(values, metric.take);
  if (typeof value === 'string') return { missing: value };
  return Number.isFinite(value)
    ? { value, numbers: values.length, notes: notes.map((note) => `${metric.key}: ${note}`) }
    : { missing: `its number ${value} is not finite` };
}

interface Text {
  text: string;
  /** Says what was not searched, as the end of a sentence. */
  cut?: string;
}

const KEPT_MIB = IN_MEMORY_BYTES / 2 ** 20;
const BYTE_ORDER_MARK = /^\uFEFF/;

async function textOf({ from, pick, take }: ExtractedMetric, output: RunOutput): Promise<Text | { missing: string }> {
  if (typeof from !== 'string') return fileText(resolve(output.cwd, from.file), output.before);
  const { head, tail, bytes } = output[from];
  if (tail === null) return { text: head.replace(BYTE_ORDER_MARK, '') };
  const kept = `of ${bytes} bytes only the first and the last ${KEPT_MIB} MiB are kept`;
  const advice = 'let the program write it to a file';
  // A part has no sum, mean, least or largest of the whole.
  if (pick.by === 'json' || (take !== 'first' && take !== 'last'))
    return { missing: `${kept}, and ${pick.by === 'json' ? 'JSON' : `the ${take}`} needs all of them: ${advice}` };
  const text = take === 'first' ? head.replace(BYTE_ORDER_MARK, '') : tail;
  return { text, cut: ` in the ${take} ${KEPT_MIB} MiB (${kept}: ${advice})` };
}

async function contentOf(path: string): Promise<{ content: Buffer } | { missing: string }> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const found = await file.stat();
      // A device or a pipe has no end.
      if (!found.isFile()) return { missing: `${quoted(path)} is not a regular file` };
      if (found.size > MOST_FILE_BYTES) return { missing: `${quoted(path)} has more than ${MOST_FILE_BYTES} bytes` };
      return { content: await file.readFile() };
    } finally {
      await file.close();
    }
  } catch (error) {
    return { missing: `${quoted(path)} cannot be read: ${messageOf(error)}` };
  }
}

/** Whether a file was touched and not written: `touch` sets both times to the same moment, a write sets one of them. */
const isTouched = (before: FileState, { inode, size, atimeNs, mtimeNs }: Omit<FileState, 'hash'>): boolean =>
  inode === before.inode && size === before.size && atimeNs === mtimeNs && atimeNs !== before.atimeNs;

async function fileText(path: string, states: FileStates): Promise<Text | { missing: string }> {
  const after = await stateOf(path);
  if (after === null) return { missing: `the run did not write ${quoted(path)}` };
  const before = states.get(path) ?? null;
  if (before?.id === after.id) return { missing: `the run left ${quoted(path)} as it was` };
  const found = await contentOf(path);
  if ('missing' in found) return found;
  if (before && isTouched(before, after) && hashOf(found.content) === before.hash)
    return { missing: `the run left the content of ${quoted(path)} as it was, and changed only its time` };
  return { text: found.content.toString('utf8').replace(BYTE_ORDER_MARK, '') };
}

type Numbers = { values: [number, ...number[]]; notes: string[] } | { missing: string };

async function numbersIn(pick: Extraction, text: string, signal: AbortSignal): Promise<Numbers> {
  if (pick.by === 'regex') return byPattern(pick.pattern, text, signal);
  return pick.by === 'json' ? byPointer(pick.pointer, text) : byLines(pick.pointer, text);
}

const some = (values: readonly number[], missing: string, notes: string[] = []): Numbers =>
  values.length > 0 ? { values: values as [number, ...number[]], notes } : { missing };

async function byPattern(pattern: RegExp, text: string, signal: AbortSignal): Promise<Numbers> {
  const found = await firstGroups(pattern, text, { signal });
  if ('missing' in found) return found;
  const { groups } = found;
  const wrong = groups.find((group) => group.trim() === '' || !Number.isFinite(Number(group)));
  if (wrong !== undefined)
    return {
      missing: `the group of ${pattern.source} is ${quoted(wrong.slice(0, LONGEST_QUOTE))}, which is no number`,
    };
  return some(groups.map(Number), `nothing matched ${pattern.source}`);
}

function byPointer(pointer: string, text: string): Numbers {
  let value: unknown;
  try {
    value = pointed(boundedJson(text), pointer);
  } catch (error) {
    return {
      missing:
        error instanceof JsonBoundsError
          ? `the output is not read as JSON: ${error.message}`
          : 'the output is not one JSON text',
    };
  }
  if (typeof value === 'number') return { values: [value], notes: [] };
  return {
    missing:
      value === undefined ? `there is nothing at ${quoted(pointer)}` : `what is at ${quoted(pointer)} is no number`,
  };
}

function byLines(pointer: string, text: string): Numbers {
  const found = numbersInLines(pointer, text);
  if ('missing' in found) return found;
  return some(found.values, `no line of JSON has a number at ${quoted(pointer)}`, found.notes);
}

const percentiles = { p90: 'p90', p95: 'p95', p99: 'p99', 'p99.9': 'p999' } as const;
type Percentile = keyof typeof percentiles;

const choosing: Record<Exclude<Choice, Percentile>, (values: [number, ...number[]]) => number> = {
  first: ([first]) => first,
  last: (values) => values.at(-1) as number,
  least: (values) => values.reduce((a, b) => Math.min(a, b)),
  largest: (values) => values.reduce((a, b) => Math.max(a, b)),
  mean: (values) => mean(values).value,
  median: (values) => median(values).value,
  sum: (values) => values.reduce((a, b) => a + b),
};

const isPercentile = (take: Choice): take is Percentile => Object.hasOwn(percentiles, take);

/** The number, or why there is none. */
function chosen(values: [number, ...number[]], take: Choice): number | string {
  if (!isPercentile(take)) return choosing[take](values);
  const floor = percentileFloors[percentiles[take]];
  return (
    summarise(values)?.[percentiles[take]] ??
    `a ${take} takes at least ${floor} numbers in a run, and there were ${values.length}`
  );
}
