/** The common part of `compare` and `exec`: measure, store, print and judge. */
import { type Comparison, type ComparisonHooks, measureComparison, type Tolerance } from '../../api/comparison.js';
import type { ComparisonDocument } from '../../results/document.js';
import { loadAddon, simulatedDriverFolder } from '../../native/load.js';
import { comparisonReport } from '../../report/formats/comparison.js';
import { capitalised, duration, plain } from '../../results/text/plain.js';
import type { CompareHooks } from '../../run/compare.js';
import type { Stage } from '../../run/effects/detect.js';
import { chooseTarget } from '../../run/plan/target.js';
import { quoted, UsageError } from '../../errors/usage-error.js';
import type { System } from '../../systems/system.js';
import { plannedText } from './detecting.js';
import { MOST_POSSIBLE } from '../../api/rounds.js';
import { exitCodes } from '../options/exit-codes.js';
import type { Conclusion, Gating, RawGating } from './gating.js';
import { type Continued, interruptedText } from '../process/interrupted.js';
import { interruptible } from '../process/interruption.js';
import { junitTargets, markUnfinished } from '../files/junit-file.js';
import { measuringOf, parseNumber, type RawRunOptions, type RunOptions } from '../options/options.js';
import { failureOf, STDOUT } from '../files/output.js';
import { checkOutputs, type Output, publish } from '../options/document-outputs.js';
import { type ProgressDisplay, progressDisplay } from '../terminal/progress.js';
import { finishedRounds, openDirectory, type ResultDirectory } from '../files/result-directory.js';
import { disturbedText, exitCodeOfResults, unwrittenCodes } from '../options/result-codes.js';
import { secretSettings, type StoredRequest } from './stored-request.js';
import { say, sayUnwritten, warn } from '../terminal/talk.js';

/** Options of both commands. */
export interface RawComparing extends RawRunOptions, RawGating {
  output?: string;
  resume?: string;
  allowMissing?: true;
  keepGoing?: true;
}

export interface Comparing {
  raw: RawComparing;
  options: RunOptions;
  comparison: Comparison;
  /** Text of the plan. */
  words: string;
  kept: StoredRequest;
  /** Whether the run continues the comparison in its directory. */
  isResumed: boolean;
  gating: Gating | null;
  /** Input files, which must not be overwritten. */
  inputs: readonly string[];
  /** Called with the results directory before anything is measured. */
  onDirectory?: (path: string) => void;
  onRound?: (round: number, index: number, stage: Stage) => void;
}

/** Null: the tier decides. */
export function parseRounds(text: string | undefined): number | null {
  if (text === undefined) return null;
  const value = parseNumber('--rounds', text);
  if (Number.isInteger(value) && value >= 1 && value <= MOST_POSSIBLE) return value;
  throw new UsageError(`Expected --rounds to be an integer from 1 to ${MOST_POSSIBLE} but received ${quoted(text)}.`);
}

export const toleranceOf = (raw: RawComparing): Tolerance => ({
  allowMissing: raw.allowMissing === true,
  keepGoing: raw.keepGoing === true,
});

/** Reports unavailable systems with --allow-missing; without it they are refused. */
export function sayUnavailable(systems: readonly System[]): void {
  for (const { name, unavailable } of systems)
    if (unavailable !== null) warn(`${name} cannot be measured here and would be kept as unsupported: ${unavailable}`);
}

/** Returns the exit code. */
export async function measureAndPublish(task: Comparing): Promise<number> {
  const { raw, options, comparison, kept, gating } = task;
  const { systems, rounds } = comparison;
  await begin(task.inputs, options.outputs);
  const addon = loadAddon();
  const target = chooseTarget(options, addon, simulatedDriverFolder);
  const directory = await openDirectory(raw, systems, kept);
  task.onDirectory?.(directory.path);
  for (const name of secretSettings(kept))
    warn(`${name} is secret and not recorded, so this comparison cannot be continued with --resume.`);
  const progress = progressDisplay();
  const unwritten: Error[] = [];
  try {
    const staged: ComparisonHooks = {
      finished: async (stage, count) => (task.isResumed ? finishedRounds(directory.path, systems, count, stage) : []),
      hooks: (stage) => ({
        ...hooks(
          task,
          progress,
          directory.path,
          stage === 'pilot' || typeof rounds === 'number' ? [target.notice, task.words] : [],
          stage,
        ),
        ...recorder(progress, directory, systems, unwritten, stage),
      }),
      onPlanned: (detection, count) => progress.aside(() => say(plannedText(detection, count))),
      onMeasured: (document) => withSystemsFile(document, directory),
    };
    const document = await interruptible((signal) =>
      measureComparison(comparison, measuringOf(options, target, signal), staged),
    );
    progress.stop();
    const judged = gating?.conclude(document);
    unwritten.push(...(await publishAll(document, directory, options.outputs, judged, unwritten)));
    document.warnings.forEach(warn);
    unwritten.push(...(await directory.keepTranscript()));
    const disturbed = disturbedText(document);
    if (disturbed !== null) say(disturbed);
    sayUnwritten(unwritten, `With room, --resume ${directory.path} continues from what is there.`);
    if (!document.completed) say(interruptedText(document, raw as Continued, secretSettings(kept), commandOf(kept)));
    return exitCode(document, unwritten, judged?.exitCode);
  } finally {
    progress.stop();
    await directory.close();
  }
}

const commandOf = ({ workloads }: StoredRequest): 'compare' | 'exec' => (workloads ? 'exec' : 'compare');

/** Reports name the file in the command that repeats the measurement. */
async function withSystemsFile(document: ComparisonDocument, directory: ResultDirectory): Promise<ComparisonDocument> {
  const config = await directory.systemsFile();
  return config === null ? document : { ...document, plan: { ...document.plan, config } };
}

/** Checks everything possible without measuring; then marks JUnit files of earlier runs as unfinished. */
async function begin(inputs: readonly string[], outputs: readonly Output[]) {
  await checkOutputs(outputs, inputs);
  await markUnfinished(junitTargets(outputs));
}

function hooks(
  { gating, comparison: { systems }, onRound }: Comparing,
  progress: ProgressDisplay,
  directory: string,
  intro: readonly (string | null)[],
  stage: Stage,
): Omit<CompareHooks, 'onDocument'> {
  let at = '';
  let system = '';
  return {
    onStart: ({ device, because }, warnings) => {
      progress.aside(() => {
        if (intro.length === 0) return;
        for (const line of intro) if (line) say(plain(line));
        say(plain(`Device ${device.index}: ${device.name}, ${device.uuid} (${because}); results in ${directory}`));
        warnings.forEach(warn);
      });
    },
    onComputeLimit: ({ name }) => progress.doing(`compute limit of ${plain(name)}`),
    onRound: (round, measured, further) => {
      system = measured.name;
      at = `${roundOf(stage)} ${round + 1}, ${plain(system)}${further === null ? '' : `, further process ${further}`}`;
      onRound?.(round, systems.indexOf(measured), stage);
      progress.doing(at);
    },
    onWaiting: (what) => progress.doing(`${at === '' ? '' : `${at}: `}waiting for ${what}`),
    onPrepared: ({ description }, _choice, warnings) => {
      gating?.checkWorld(description.inspection.simulated);
      progress.aside(() => warnings.forEach(warn));
    },
    onMetric: ({ id }) => progress.doing(`${at}: ${id}`),
    onProgress: ({ id, step, warning }) => {
      progress.doing(`${at}: ${id} ${step}`);
      if (warning !== undefined) progress.aside(() => warn(`${system}, ${warning}`));
    },
    onResult: () => {},
    onGivenUp: ({ name }) =>
      progress.aside(() => warn(`${name}: its further rounds are not measured (--keep-going measures them).`)),
    onFailedProof: (reason) => progress.aside(() => warn(`${system}: ${reason}`)),
  };
}

const roundOf = (stage: Stage): string => (stage === 'pilot' ? 'pilot round' : 'round');

/** A round that cannot be written is kept in memory: the disk may have room again before the end. */
function recorder(
  progress: ProgressDisplay,
  directory: ResultDirectory,
  systems: readonly System[],
  unwritten: Error[],
  stage: Stage,
): Pick<CompareHooks, 'onDocument'> {
  return {
    onDocument: async (round, index, { document, origin, log }) => {
      const which = `${capitalised(roundOf(stage))} ${round + 1}, ${plain(systems[index]?.name ?? '')}`;
      const outcome = origin === 'measured' ? duration(document.durationMs / 1_000) : origin;
      // Already stored in the directory.
      if (origin === 'reused') return progress.aside(() => say(`${which}: ${outcome}`));
      const failure = await failureOf(directory.keepRound(round, index, document, log, stage));
      if (failure) unwritten.push(failure);
      progress.aside(() => {
        if (failure) warn(`${failure.message} Measuring continues; the result is written and printed at the end.`);
        say(`${which}: ${outcome}`);
      });
    },
  };
}

/** Files first, because standard output may be closed. Returns what could not be written. */
async function publishAll(
  document: ComparisonDocument,
  directory: ResultDirectory,
  asked: readonly Output[],
  judged: Conclusion | undefined,
  before: readonly Error[],
): Promise<Error[]> {
  // The gate's own cases replace those of the defaults.
  const outputs = asked.filter(({ format }) => !judged || format !== 'junit');
  const free = asked.every(({ target }) => target !== STDOUT);
  const unwritten = [...((await judged?.writeFiles()) ?? []), ...(await directory.finish(document))];
  // If the reader of standard output closes it, nothing after this runs.
  process.exitCode = exitCode(document, [...before, ...unwritten], judged?.exitCode);
  const report = comparisonReport(document);
  const isJunitThere = !free && outputs.every(({ target }) => target !== STDOUT);
  if (isJunitThere) say(report);
  unwritten.push(...(await publish(document, outputs, isJunitThere ? null : report)));
  return [...unwritten, ...((await judged?.tell(free)) ?? [])];
}

const exitCode = (document: ComparisonDocument, unwritten: readonly Error[], judged: number = exitCodes.ok): number =>
  exitCodeOfResults(document, [judged, ...unwrittenCodes(unwritten)]);
