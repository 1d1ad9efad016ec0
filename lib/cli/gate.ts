/** `gpu-virt-bench gate [FILE]` */
import type { GateDocument } from '../gate/document.js';
import { gate as judge } from '../gate/gate.js';
import { metrics } from '../metrics/registry.js';
import { gateReport } from '../report/gate.js';
import { junitReport } from '../report/junit.js';
import { namedOrNewest } from '../saved/directories.js';
import { exitCodes, firstOf } from './exit-codes.js';
import { storedBaseline, thresholdsOf } from './gate-inputs.js';
import { failureOf, STDOUT, writeStdout, writeWhole } from './output.js';
import { codesOf } from './result-codes.js';
import { errorLine, say, warn } from './talk.js';
import { checkTargets } from './targets.js';

export interface RawGateOptions {
  config?: string;
  baseline?: string;
  store?: string;
  json?: string;
  junit?: string;
}

export async function gate(file: string | undefined, raw: RawGateOptions): Promise<number> {
  const thresholds = await thresholdsOf(raw.config, '--config');
  const baseline = await storedBaseline(raw.baseline, raw.store);
  const { json, junit } = raw;
  const targets = [
    { option: '--json', target: json },
    { option: '--junit', target: junit },
  ];
  await checkTargets(targets, [file, raw.config]);
  const { path, document, problems, skipped } = await namedOrNewest(file);
  skipped.forEach(warn);
  if (file === undefined) say(`Judging ${path}.`);
  problems.forEach(warn);
  const found = judge(document, thresholds, baseline, metrics);
  const code = (unwritten: readonly Error[]) =>
    firstOf([codeOf(found), ...codesOf(document), ...(unwritten.length > 0 ? [exitCodes.failed] : [])]);
  const texts: Texts = [
    [json, () => `${JSON.stringify(found, null, 2)}\n`],
    [junit, () => junitReport(found)],
  ];
  const unwritten = await writeFiles(texts);
  // Should whoever reads the report leave, nothing after it runs.
  process.exitCode = code(unwritten);
  const untold = await tell(found, texts);
  return code([...unwritten, ...untold]);
}

export const codeOf = ({ passed }: GateDocument): number => (passed ? exitCodes.ok : exitCodes.gateFailed);

type Texts = readonly (readonly [target: string | undefined, text: () => string])[];

/** One that cannot be written costs no other, nor what the gate found. */
async function writeFiles(texts: Texts): Promise<Error[]> {
  const failures: (Error | null)[] = [];
  for (const [target, text] of texts)
    if (target !== undefined && target !== STDOUT) failures.push(await failureOf(writeWhole(target, text())));
  return said(failures);
}

async function tell(found: GateDocument, texts: Texts): Promise<Error[]> {
  const asked = texts.find(([target]) => target === STDOUT);
  const report = gateReport(found);
  if (asked) say(report);
  const failure = await failureOf(writeStdout(asked ? asked[1]() : `${report}\n`));
  found.warnings.forEach(warn);
  return said([failure]);
}

function said(failures: readonly (Error | null)[]): Error[] {
  const real = failures.filter((failure) => failure !== null);
  for (const failure of real) process.stderr.write(errorLine(failure));
  return real;
}
