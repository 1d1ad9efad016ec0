/** `gpu-virt-bench gate [FILE]` */
import { join } from 'node:path';
import type { GateDocument } from '../../gate/document.js';
import { gate as judge } from '../../gate/gate.js';
import { metricsOf } from '../../metrics/core/stored-definitions.js';
import { gateReport } from '../../report/formats/gate.js';
import { junitReport } from '../../report/formats/junit.js';
import { SUMMARY } from '../../saved/directories.js';
import { namedOrNewest } from '../../saved/named-document.js';
import { storedBaseline, thresholdsOf } from '../options/gate-inputs.js';
import { failureOf, STDOUT, writeStdout, writeText, writeWhole } from '../files/output.js';
import { checkOutputs, type Output, parseOutputs } from '../options/document-outputs.js';
import { exitCodeOfGate, exitCodeOfResults, unwrittenCodes } from '../options/result-codes.js';
import { errorLine, say, warn } from '../terminal/talk.js';

export interface RawGateOptions {
  config?: string;
  baseline?: string;
  store?: string;
  json?: string;
  junit?: string;
}

export async function gate(file: string | undefined, raw: RawGateOptions): Promise<number> {
  const baseline = await storedBaseline(raw.baseline, raw.store);
  const outputs = parseOutputs({
    ...(raw.json !== undefined && { json: raw.json }),
    ...(raw.junit !== undefined && { junit: raw.junit }),
  });
  await checkOutputs(outputs, inputsOf(file, raw));
  const { path, document, problems, skipped } = await namedOrNewest(file);
  const metrics = metricsOf(document, ...(baseline ? [baseline.document] : []));
  const thresholds = await thresholdsOf(raw.config, '--config', metrics);
  skipped.forEach(warn);
  if (file === undefined) say(`Judging ${path}.`);
  problems.forEach(warn);
  const found = judge(document, thresholds, baseline, metrics);
  const code = (unwritten: readonly Error[]) =>
    exitCodeOfResults(document, [exitCodeOfGate(found), ...unwrittenCodes(unwritten)]);
  const unwritten = await writeFiles(found, outputs);
  // If the reader of standard output closes it, nothing after this runs.
  process.exitCode = code(unwritten);
  const untold = await tell(found, outputs);
  return code([...unwritten, ...untold]);
}

/** Input files, which must not be overwritten. */
const inputsOf = (file: string | undefined, { config }: RawGateOptions): string[] => [
  ...(file === undefined ? [] : [file, join(file, SUMMARY)]),
  ...(config === undefined ? [] : [config]),
];

const textOf = (found: GateDocument, { format }: Output): string =>
  format === 'junit' ? junitReport(found) : `${JSON.stringify(found, null, 2)}\n`;

/** If one cannot be written, the others and the gate's result are not affected. */
async function writeFiles(found: GateDocument, outputs: readonly Output[]): Promise<Error[]> {
  const failures: (Error | null)[] = [];
  for (const output of outputs)
    if (output.target !== STDOUT) failures.push(await failureOf(writeWhole(output.target, textOf(found, output))));
  return said(failures);
}

async function tell(found: GateDocument, outputs: readonly Output[]): Promise<Error[]> {
  const asked = outputs.find(({ target }) => target === STDOUT);
  const report = gateReport(found);
  if (asked) say(report);
  const failure = await failureOf(asked ? writeStdout(textOf(found, asked)) : writeText(`${report}\n`));
  found.warnings.forEach(warn);
  return said([failure]);
}

function said(failures: readonly (Error | null)[]): Error[] {
  const real = failures.filter((failure) => failure !== null);
  for (const failure of real) process.stderr.write(errorLine(failure));
  return real;
}
