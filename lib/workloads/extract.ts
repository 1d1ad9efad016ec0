/** The number of a metric in what one run printed or wrote. */
import { open, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { messageOf } from '../errors/message-of.js';
import { quoted } from '../errors/usage-error.js';
import { mean } from '../stats/mean.js';
import { median } from '../stats/median.js';
import { firstGroups, tookTooLong } from '../systems/pattern.js';
import { pointed } from './json-pointer.js';
import { type Captured, IN_MEMORY_BYTES } from './output.js';
import type { Choice, Extraction, ExtractedMetric, OutputSource } from './workload-type.js';

/** The most that is read of a file that a run wrote. */
const MOST_FILE_BYTES = 64 * 2 ** 20;
const LONGEST_QUOTE = 80;

export type Extracted = { value: number } | { missing: string };

export interface RunOutput {
  stdout: Captured;
  stderr: Captured;
  cwd: string;
  /** The state before the run of the files that metrics read. */
  before: FileStates;
  signal: AbortSignal;
}

/** By path; null for a file that did not exist. */
export type FileStates = ReadonlyMap<string, string | null>;

const stateOf = (path: string): Promise<string | null> =>
  stat(path, { bigint: true }).then(
    ({ ino, size, mtimeNs, ctimeNs }) => [ino, size, mtimeNs, ctimeNs].join('-'),
    () => null,
  );

/** A file that an earlier run left must not be read as this one's. */
export async function fileStates(metrics: readonly ExtractedMetric[], cwd: string): Promise<FileStates> {
  const files = metrics.flatMap(({ from }) => (typeof from === 'string' ? [] : [resolve(cwd, from.file)]));
  const states = new Map<string, string | null>();
  for (const file of new Set(files)) states.set(file, await stateOf(file));
  return states;
}

/** Rejects only with the reason of the signal. */
export async function extract(metric: ExtractedMetric, output: RunOutput): Promise<Extracted> {
  const found = await textOf(metric.from, output);
  if ('missing' in found) return found;
  const numbers = await numbersIn(metric.pick, found.text, output.signal);
  if ('missing' in numbers) return { missing: `${numbers.missing}${found.cut ?? ''}` };
  const value = chosen(numbers.values, metric.take);
  return Number.isFinite(value) ? { value } : { missing: `its number ${value} is not finite` };
}

interface Text {
  text: string;
  /** What was not looked at, as the end of a sentence. */
  cut?: string;
}

async function textOf(from: OutputSource, output: RunOutput): Promise<Text | { missing: string }> {
  if (typeof from !== 'string') return fileText(resolve(output.cwd, from.file), output.before);
  const captured = output[from];
  if (!captured.isCut) return { text: captured.text };
  const mib = IN_MEMORY_BYTES / 2 ** 20;
  return {
    text: captured.text,
    cut: ` (of ${captured.bytes} bytes only the first and the last ${mib} MiB were searched: write it to a file)`,
  };
}

async function fileText(path: string, before: FileStates): Promise<Text | { missing: string }> {
  const after = await stateOf(path);
  if (after === null) return { missing: `the run did not write ${quoted(path)}` };
  if (before.get(path) === after) return { missing: `the run left ${quoted(path)} as it was` };
  try {
    const file = await open(path);
    try {
      const found = await file.stat();
      // A device or a pipe has no end.
      if (!found.isFile()) return { missing: `${quoted(path)} is not a regular file` };
      if (found.size > MOST_FILE_BYTES) return { missing: `${quoted(path)} has more than ${MOST_FILE_BYTES} bytes` };
      return { text: await file.readFile('utf8') };
    } finally {
      await file.close();
    }
  } catch (error) {
    return { missing: `${quoted(path)} cannot be read: ${messageOf(error)}` };
  }
}

type Numbers = { values: [number, ...number[]] } | { missing: string };

async function numbersIn(pick: Extraction, text: string, signal: AbortSignal): Promise<Numbers> {
  if (pick.by === 'regex') return byPattern(pick.pattern, text, signal);
  return pick.by === 'json' ? byPointer(pick.pointer, text) : byLines(pick.pointer, text);
}

const some = (values: readonly number[], missing: string): Numbers =>
  values.length > 0 ? { values: values as [number, ...number[]] } : { missing };

async function byPattern(pattern: RegExp, text: string, signal: AbortSignal): Promise<Numbers> {
  const groups = await firstGroups(pattern, text, { signal });
  if (groups === null) return { missing: tookTooLong(pattern) };
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
    value = pointed(JSON.parse(text), pointer);
  } catch {
    return { missing: 'the output is not one JSON text' };
  }
  if (typeof value === 'number') return { values: [value] };
  return {
    missing:
      value === undefined ? `there is nothing at ${quoted(pointer)}` : `what is at ${quoted(pointer)} is no number`,
  };
}

/** Lines that are no JSON are other output of the program. */
function byLines(pointer: string, text: string): Numbers {
  const values = text.split('\n').flatMap((line) => {
    if (!/^\s*[[{]/.test(line)) return [];
    try {
      const value = pointed(JSON.parse(line), pointer);
      return typeof value === 'number' ? [value] : [];
    } catch {
      return [];
    }
  });
  return some(values, `no line of JSON has a number at ${quoted(pointer)}`);
}

const choosing: Record<Choice, (values: [number, ...number[]]) => number> = {
  first: ([first]) => first,
  last: (values) => values.at(-1) as number,
  least: (values) => values.reduce((a, b) => Math.min(a, b)),
  largest: (values) => values.reduce((a, b) => Math.max(a, b)),
  mean: (values) => mean(values).value,
  median: (values) => median(values).value,
  sum: (values) => values.reduce((a, b) => a + b),
};

const chosen = (values: [number, ...number[]], take: Choice): number => choosing[take](values);
