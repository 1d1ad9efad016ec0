/** `gpu-virt-bench gate [FILE]`, and what `compare` does with --baseline and --gate. */
import { UsageError } from '../errors/usage-error.js';
import { checkKinds, checkSameWorld, checkShared } from '../gate/against-baseline.js';
import type { GateDocument } from '../gate/document.js';
import { gate as judge } from '../gate/gate.js';
import { checkSystems, defaultThresholds, readThresholds, type Thresholds } from '../gate/thresholds.js';
import { metrics } from '../metrics/registry.js';
import { gateReport } from '../report/gate.js';
import { junitReport } from '../report/junit.js';
import type { ResultDocument } from '../report/view.js';
import { type Baseline, readBaseline, STORE } from '../saved/baselines.js';
import { namedOrNewest } from '../saved/directories.js';
import { exitCodeOf, exitCodes } from './exit-codes.js';
import { checkTarget, failureOf, STDOUT, writeStdout, writeWhole } from './output.js';
import { errorLine, say, warn } from './talk.js';

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
  await checkTargets(raw);
  const { path, document, problems, skipped } = await namedOrNewest(file);
  skipped.forEach(warn);
  if (file === undefined) say(`Judging ${path}.`);
  problems.forEach(warn);
  const found = judge(document, thresholds, baseline, metrics);
  process.exitCode = codeOf(found);
  await publish(found, raw);
  return codeOf(found);
}

const codeOf = ({ passed }: GateDocument): number => (passed ? exitCodes.ok : exitCodes.gateFailed);

const thresholdsOf = async (file: string | undefined, option: string): Promise<Thresholds> =>
  file === undefined ? defaultThresholds(metrics) : readThresholds(file, option, metrics);

async function storedBaseline(name: string | undefined, store = STORE): Promise<Baseline | null> {
  if (name === undefined) return null;
  const { problems, ...baseline } = await readBaseline(store, name);
  problems.forEach(warn);
  return baseline;
}

async function checkTargets({ json, junit }: Pick<RawGateOptions, 'json' | 'junit'>): Promise<void> {
  if (json === STDOUT && junit === STDOUT)
    throw new UsageError('Expected one of --json and --junit to be a file but received - for both.');
  for (const [option, target] of [
    ['--json', json],
    ['--junit', junit],
  ] as const)
    if (target !== undefined) await checkTarget(target, option);
}

/** Files first: a reader of stdout that has left must not cost them. */
async function publish(found: GateDocument, { json, junit }: RawGateOptions): Promise<void> {
  const texts = [
    [json, () => `${JSON.stringify(found, null, 2)}\n`],
    [junit, () => junitReport(found)],
  ] as const;
  for (const [target, text] of texts) if (target !== undefined && target !== STDOUT) await writeWhole(target, text());
  const asked = texts.find(([target]) => target === STDOUT);
  if (asked) say(gateReport(found));
  await writeStdout(asked ? asked[1]() : `${gateReport(found)}\n`);
  found.warnings.forEach(warn);
}

/** Options of `compare` that judge what was measured. */
export interface RawGating {
  baseline?: string;
  gate?: string;
  store?: string;
  junit?: string;
}

export interface Gating {
  /** As soon as a worker has seen the GPU. */
  checkWorld: (simulated: boolean) => void;
  conclude: (document: ResultDocument) => Conclusion;
}

export interface Conclusion {
  exitCode: number;
  /** Answers what could not be written. */
  publish: (toStdout: boolean) => Promise<Error[]>;
}

/** Reads and checks everything that can be before anything is measured; null where nothing is to be judged. */
export async function prepareGating(
  raw: RawGating,
  systems: readonly { name: string; kind: string }[],
): Promise<Gating | null> {
  if (raw.baseline === undefined && raw.gate === undefined) {
    if (raw.store === undefined) return null;
    throw new UsageError('Expected --store together with --baseline but received it alone.');
  }
  const thresholds = await thresholdsOf(raw.gate, '--gate');
  const baseline = await storedBaseline(raw.baseline, raw.store);
  const names = systems.map(({ name }) => name);
  checkSystems(thresholds, names);
  if (baseline) {
    checkShared(names, baseline);
    checkKinds(systems, baseline);
  }
  if (raw.junit === STDOUT)
    throw new UsageError('Expected --junit to be a file but received -: gate --junit - writes to standard output.');
  if (raw.junit !== undefined) await checkTarget(raw.junit, '--junit');
  return {
    checkWorld: (simulated) => baseline && checkSameWorld(simulated, baseline),
    conclude: (document) => conclude(document, thresholds, baseline, raw.junit),
  };
}

/** What cannot be judged after all must not cost what was measured. */
function conclude(
  document: ResultDocument,
  thresholds: Thresholds,
  baseline: Baseline | null,
  junit: string | undefined,
): Conclusion {
  if (!document.completed) {
    const skipped = async () => {
      say('The gate does not judge what was interrupted.');
      return [];
    };
    return { exitCode: exitCodes.ok, publish: skipped };
  }
  try {
    const found = judge(document, thresholds, baseline, metrics);
    return { exitCode: codeOf(found), publish: (toStdout) => publishBeside(found, junit, toStdout) };
  } catch (error) {
    const unjudged = async () => {
      process.stderr.write(errorLine(error));
      return [];
    };
    return { exitCode: exitCodeOf(error), publish: unjudged };
  }
}

/** After the comparison, wherever that went. */
async function publishBeside(found: GateDocument, junit: string | undefined, toStdout: boolean): Promise<Error[]> {
  const report = gateReport(found);
  const failures = [
    junit === undefined ? null : await failureOf(writeWhole(junit, junitReport(found))),
    toStdout ? await failureOf(writeStdout(`\n${report}\n`)) : null,
  ];
  if (!toStdout) say(report);
  found.warnings.forEach(warn);
  return failures.filter((failure) => failure !== null);
}
