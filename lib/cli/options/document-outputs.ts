/** The outputs of a document: files in any format, and standard output in one of them or as a table. */
import { stat } from 'node:fs/promises';
import { quoted, UsageError } from '../../errors/usage-error.js';
import { didYouMean } from '../../errors/closest.js';
import { rendering } from '../../rendering.js';
import { type Format, formats } from '../../report/formats.js';
import type { ResultDocument } from '../../results/kinds.js';
import { checkTarget, failureOf, followed, STDOUT, writeStdout, writeText, writeWhole } from '../files/output.js';
import { say } from '../terminal/talk.js';

/** `--html FILE` and similar; `--format F` is `--F -`. */
export type RawOutputs = Partial<Record<Format, string>> & { format?: string };

export interface Output {
  format: Format;
  /** A file, or - for standard output. */
  target: string;
}

export function parseOutputs(raw: RawOutputs): Output[] {
  const named = formats.flatMap((format): Output[] => {
    const target = raw[format];
    return target === undefined ? [] : [{ format, target: checkedTarget(format, target) }];
  });
  const outputs = raw.format === undefined ? named : [...named, { format: parseFormat(raw.format), target: STDOUT }];
  if (outputs.filter(({ target }) => target === STDOUT).length > 1)
    throw new UsageError('Expected one format on standard output but received several: name a file for the others.');
  return outputs;
}

/** Otherwise `--json --simulate` would write a file named --simulate. */
function checkedTarget(format: Format, target: string): string {
  if (target.startsWith('--'))
    throw new UsageError(`Expected --${format} to be a file or - but received ${quoted(target)}.`);
  return target;
}

function parseFormat(text: string): Format {
  const found = formats.find((format) => format === text);
  if (found) return found;
  const hint = didYouMean(text, formats, `there are ${formats.join(', ')}.`);
  throw new UsageError(`Expected --format to be a format but received ${quoted(text)}: ${hint}`);
}

/** Checks, before anything is measured, that every target is writable, is named only once, and is not an input. */
export async function checkOutputs(outputs: readonly Output[], inputs: readonly string[] = []): Promise<void> {
  const taken = new Map<string, string>();
  for (const input of inputs) taken.set(await followed(input), input);
  for (const { format, target } of outputs) {
    await checkTarget(target, `--${format}`);
    if (target === STDOUT) continue;
    // A device can take several outputs; a file would keep only the last one.
    const existing = await stat(target).catch(() => null);
    if (existing && !existing.isFile()) continue;
    const place = await followed(target);
    const other = taken.get(place);
    if (other !== undefined)
      throw new UsageError(
        `Expected --${format} to be a file of its own but received ${quoted(target)}, which is ${other === target ? 'named twice' : quoted(other)}.`,
      );
    taken.set(place, target);
  }
}

/**
 * Writes to all targets; returns the errors. `report` is for people: on standard output, or on stderr if a format uses
 * that. `write` puts a text into a file.
 */
export async function publish(
  document: ResultDocument,
  outputs: readonly Output[],
  report: string | null,
  write = writeWhole,
): Promise<Error[]> {
  const render = rendering(document);
  const toFiles = outputs.filter(({ target }) => target !== STDOUT);
  const toStdout = outputs.find(({ target }) => target === STDOUT);
  const failures: (Error | null)[] = [];
  for (const { format, target } of toFiles)
    failures.push(await failureOf(render(format).then((text) => write(target, text))));
  if (toStdout) failures.push(await failureOf(render(toStdout.format).then(writeStdout)));
  else if (report !== null) failures.push(await failureOf(writeText(`${report}\n`)));
  if (toStdout && report !== null) say(report);
  return failures.filter((failure) => failure !== null);
}
