/** Where a document goes: files in any format, standard output in one of them or as a table. */
import { quoted, UsageError } from '../errors/usage-error.js';
import { closest } from '../errors/closest.js';
import { type Format, formats, rendering } from '../rendering.js';
import type { ResultDocument } from '../report/view.js';
import { checkTarget, failureOf, STDOUT, writeStdout, writeWhole } from './output.js';
import { say } from './talk.js';

/** `--html FILE` and its like; `--format F` is `--F -`. */
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
  const targets = outputs.map(({ target }) => target);
  const twice = targets.find((target, index) => targets.indexOf(target) !== index);
  if (twice !== undefined)
    throw new UsageError(
      `Expected every format to have a place of its own but received ${twice === STDOUT ? 'standard output' : quoted(twice)} twice.`,
    );
  return outputs;
}

/** `--json --simulate` would otherwise write a file named --simulate. */
function checkedTarget(format: Format, target: string): string {
  if (target.startsWith('--'))
    throw new UsageError(`Expected --${format} to be a file or - but received ${quoted(target)}.`);
  return target;
}

function parseFormat(text: string): Format {
  const found = formats.find((format) => format === text);
  if (found) return found;
  const near = closest(text, formats);
  const hint = near ? `did you mean ${near}?` : `there are ${formats.join(', ')}.`;
  throw new UsageError(`Expected --format to be a format but received ${quoted(text)}: ${hint}`);
}

/** Before anything is measured. */
export async function checkOutputs(outputs: readonly Output[]): Promise<void> {
  for (const { format, target } of outputs) await checkTarget(target, `--${format}`);
}

/**
 * To every place that takes it; answers what went wrong with the others. `report` is for people: on standard output,
 * or on stderr where a format takes that.
 */
export async function publish(
  document: ResultDocument,
  outputs: readonly Output[],
  report: string | null,
): Promise<Error[]> {
  const render = rendering(document);
  const toFiles = outputs.filter(({ target }) => target !== STDOUT);
  const toStdout = outputs.find(({ target }) => target === STDOUT);
  const failures: (Error | null)[] = [];
  for (const { format, target } of toFiles)
    failures.push(await failureOf(render(format).then((text) => writeWhole(target, text))));
  if (toStdout) failures.push(await failureOf(render(toStdout.format).then(writeStdout)));
  else if (report !== null) failures.push(await failureOf(writeStdout(`${report}\n`)));
  if (toStdout && report !== null) say(report);
  return failures.filter((failure) => failure !== null);
}
