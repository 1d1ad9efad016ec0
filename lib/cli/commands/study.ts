/** `gpu-virt-bench study DIR`: runs the steps of a study and writes its tables beside the published ones. */
import { rename } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { checkTemporary } from '../../environment/temporary.js';
import { toolVersion } from '../../environment/tool.js';
import { listed } from '../../errors/listed.js';
import { messageOf } from '../../errors/message-of.js';
import { quoted, UsageError } from '../../errors/usage-error.js';
import { duration, plain } from '../../results/text/plain.js';
import { counted } from '../../results/text/quantity.js';
import { shellQuoted } from '../../results/text/command-line.js';
import type { ResultDocument } from '../../results/kinds.js';
import { viewOf } from '../../results/view.js';
import { RESULTS } from '../../saved/directories.js';
import { readDocument } from '../../saved/read.js';
import { needsOf } from '../../study/needs.js';
import { readStudy } from '../../study/read-study.js';
import { studyCsv, studyPage } from '../../study/study-page.js';
import { newRecord, readRecord, RECORD, type StepOutcome, type StudyRecord } from '../../study/study-record.js';
import { measuredTables, type MeasuredStep } from '../../study/study-rows.js';
import type { PlannedStep, Study } from '../../study/study-settings.js';
import { callerEnvironment } from '../../systems/process/environment.js';
import { isThere, makeDirectory, writeText, writeWithoutLinks } from '../files/output.js';
import { REQUEST } from '../comparing/stored-request.js';
import { exitCodes } from '../options/exit-codes.js';
import { ownCommand } from '../process/own-command.js';
import { say, warn } from '../terminal/talk.js';

export interface RawStudyOptions {
  output?: string;
  set: string[];
  step: string[];
  short: boolean;
  simulate: boolean;
  report: boolean;
  dryRun: boolean;
}

export async function study(directory: string, raw: RawStudyOptions): Promise<number> {
  const own = await readStudy(directory, { given: valuesIn(raw.set), isShort: raw.short });
  const chosen = chosenSteps(own, raw.step);
  if (raw.dryRun) return describe(own, chosen, raw);
  const output = resolve(raw.output ?? join(RESULTS, `${timeName()}-${own.name}`));
  const earlier = await earlierRecord(output, own, raw);
  await makeDirectory(output, '--output');
  const record = earlier ?? newRecord({ study: own.name, isShort: raw.short, version: toolVersion() });
  const isInterrupted = raw.report ? false : await measure(own, chosen, { raw, output, record });
  await publish(own, record, output);
  return isInterrupted ? exitCodes.interrupted : codeOf(record);
}

/** A step that failed is one; one that is unsupported here is said, and no failure. */
const codeOf = ({ steps }: StudyRecord): number =>
  steps.some(({ status }) => status === 'failed') ? exitCodes.failed : exitCodes.ok;

const timeName = (): string => new Date().toISOString().slice(0, 19).replaceAll(':', '-');

function valuesIn(pairs: readonly string[]): Map<string, string> {
  return new Map(
    pairs.map((pair) => {
      const [, name, value] = /^(\w+)=(.+)$/s.exec(pair) ?? [];
      if (name === undefined || value === undefined)
        throw new UsageError(`Expected --set to be NAME=VALUE but received ${quoted(pair)}.`);
      return [name, value];
    }),
  );
}

function chosenSteps({ steps }: Study, names: readonly string[]): PlannedStep[] {
  const unknown = names.find((name) => !steps.some((step) => step.name === name));
  if (unknown !== undefined)
    throw new UsageError(
      `Expected --step to be ${listed(steps.map(({ name }) => name), 'or')} but received ${quoted(unknown)}.`, // prettier-ignore
    );
  return steps.filter(({ name }) => names.length === 0 || names.includes(name));
}

async function earlierRecord(output: string, { name }: Study, { short, report }: RawStudyOptions) {
  const found = await readRecord(output);
  if (found === null && report)
    throw new UsageError(`Expected --output to be the results of a study, for --report, but received ${quoted(output)}: it has no ${RECORD}.`); // prettier-ignore
  if (found !== null && (found.study !== name || (!report && found.isShort !== short)))
    throw new UsageError(
      `Expected --output to be new or to have results of this study but received ${quoted(output)}: it has those of ${found.study}${found.isShort ? ', shortened' : ''}.`,
    );
  return found;
}

/** The command of a step, without where its results go. */
function commandOf({ argv }: PlannedStep, { simulate }: RawStudyOptions): string[] {
  if (!simulate) return argv;
  const end = argv.indexOf('--');
  return argv.toSpliced(end < 0 ? argv.length : end, 0, '--simulate');
}

async function describe(own: Study, chosen: readonly PlannedStep[], raw: RawStudyOptions): Promise<number> {
  const minutes = chosen.reduce((sum, step) => sum + (step.minutes ?? 0), 0);
  const lines = [
    `Study ${own.name}: ${own.question}`,
    `${counted(chosen.length, 'step')}, about ${duration(minutes * 60)}:`,
  ];
  for (const step of chosen) {
    const { missing } = await needsOf(step, own, callerEnvironment());
    const about = step.about === undefined ? '' : ` (${step.about})`;
    lines.push(`- ${step.name}${about}: ${commandOf(step, raw).map(shellQuoted).join(' ')}`);
    if (missing !== null) lines.push(`- ${step.name} is unsupported here: ${missing}`);
  }
  await writeText(`${lines.map(plain).join('\n')}\n`);
  return exitCodes.ok;
}

interface Measuring {
  raw: RawStudyOptions;
  output: string;
  record: StudyRecord;
}

/** Steps that are measured already are kept. Returns whether it was interrupted. */
async function measure(own: Study, chosen: readonly PlannedStep[], measuring: Measuring): Promise<boolean> {
  const { raw, output, record } = measuring;
  checkTemporary();
  for (const step of chosen) {
    const command = commandOf(step, raw);
    const earlier = record.steps.find(({ name }) => name === step.name);
    const isKept = earlier?.status === 'ok' || (await isBegun(join(output, step.name)));
    if (earlier && isKept && JSON.stringify(earlier.command) !== JSON.stringify(command))
      throw new UsageError(`Step ${step.name} was ${earlier.status === 'ok' ? 'measured' : 'begun'} by another command in ${quoted(output)}: name another folder with --output.`); // prettier-ignore
    if (earlier?.status === 'ok') {
      say(`Step ${step.name} is measured already.`);
      continue;
    }
    const keep = async (outcome: StepOutcome) => {
      record.steps = [...record.steps.filter(({ name }) => name !== step.name), outcome];
      await writeWithoutLinks(join(output, RECORD), `${JSON.stringify(record, null, 2)}\n`);
    };
    const { outcome, isInterrupted } = await measured(step, command, { own, output, keep });
    await keep(outcome);
    if (outcome.status !== 'ok') warn(`step ${step.name} is ${outcome.status}: ${outcome.reason ?? ''}`);
    if (isInterrupted) return true;
  }
  return false;
}

interface StepPlace {
  own: Study;
  output: string;
  /** Called also before the command starts: what it leaves is known however this process ends. */
  keep: (outcome: StepOutcome) => Promise<void>;
}

async function measured(
  step: PlannedStep,
  command: string[],
  { own, output, keep }: StepPlace,
): Promise<{ outcome: StepOutcome; isInterrupted: boolean }> {
  const began = Date.now();
  const needs = await needsOf(step, own, callerEnvironment());
  const outcome = (ending: Pick<StepOutcome, 'status' | 'exitCode'> & { reason?: string | null }): StepOutcome => ({
    name: step.name,
    command,
    status: ending.status,
    ...(ending.reason != null && { reason: plain(ending.reason) }),
    exitCode: ending.exitCode,
    startedAt: new Date(began).toISOString(),
    seconds: (Date.now() - began) / 1_000,
    found: needs.found,
  });
  if (needs.missing !== null)
    return { outcome: outcome({ status: 'unsupported', reason: needs.missing, exitCode: null }), isInterrupted: false };
  say(`Step ${step.name}: ${command.map(shellQuoted).join(' ')}`);
  await keep(outcome({ status: 'failed', exitCode: null, reason: 'it did not end' }));
  const [name = '', ...rest] = command;
  const folder = join(output, step.name);
  const isContinued = await isBegun(folder);
  if (!isContinued && (await isThere(folder))) await putAside(folder);
  const args = isContinued ? [name, '--resume', folder] : [name, '--output', folder, ...rest];
  const ending = await ownCommand(args, { stdout: process.stderr, cwd: own.folder });
  const { exitCode, isInterrupted, how, lastLine } = ending;
  const found = await documentIn(folder);
  if (isInterrupted)
    return { outcome: outcome({ status: 'failed', exitCode, reason: 'it was interrupted' }), isInterrupted };
  if (typeof found !== 'string') {
    const { completed } = found;
    const ending = completed ? { status: 'ok' as const } : { status: 'failed' as const, reason: 'it is not complete' };
    return { outcome: outcome({ ...ending, exitCode }), isInterrupted };
  }
  const reason = exitCode === 0 ? found : lastLine === '' ? how : `${how}: ${lastLine}`;
  return { outcome: outcome({ status: 'failed', exitCode, reason }), isInterrupted };
}

/** Whether an earlier attempt left what can be continued, with its own options. */
const isBegun = (folder: string): Promise<boolean> => isThere(join(folder, REQUEST));

/** Keeps what an earlier attempt left that cannot be continued. No step has such a name. */
async function putAside(folder: string): Promise<void> {
  let attempt = 1;
  while (await isThere(`${folder}~${attempt}`)) attempt += 1;
  const aside = `${folder}~${attempt}`;
  await rename(folder, aside);
  say(`What an earlier attempt left is now in ${quoted(aside)}.`);
}

/** Its document, or why there is none. */
const documentIn = (folder: string): Promise<ResultDocument | string> =>
  readDocument(folder).then(({ document }) => document, messageOf);

async function publish(own: Study, record: StudyRecord, output: string): Promise<void> {
  const inOrder = own.steps.flatMap(({ name }) => record.steps.filter((step) => step.name === name));
  const steps = await Promise.all(
    inOrder.map(async (step): Promise<MeasuredStep> => {
      if (step.status === 'unsupported') return { ...step, view: null };
      // One that failed may have measured a part.
      const read = await readDocument(join(output, step.name)).catch((error: unknown) => {
        if (step.status === 'ok') throw error;
        return null;
      });
      read?.problems.forEach(warn);
      return { ...step, view: read && viewOf(read.document) };
    }),
  );
  const tables = measuredTables(own, steps);
  const page = studyPage({ study: own, record, steps, tables });
  await writeWithoutLinks(join(output, 'study.md'), page);
  await writeWithoutLinks(join(output, 'study.csv'), studyCsv(tables));
  await writeText(page);
  const folders = steps.some(({ status }) => status !== 'unsupported') ? ', and a folder for each step that ran' : '';
  say(`Written: ${join(output, 'study.md')} and study.csv${folders}.`);
}
