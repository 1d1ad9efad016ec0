/** The common part of `compare` and `exec`: measure, store, print and judge. */
import { type ComparisonHooks, measureComparison } from '../../api/comparison.js';
import { loadAddon, simulatedDriverFolder } from '../../native/load.js';
import { comparisonReport } from '../../report/formats/comparison.js';
import type { ComparisonDocument } from '../../results/document.js';
import { chooseTarget, ELSEWHERE, isElsewhere } from '../../run/plan/target.js';
import { junitTargets, markUnfinished } from '../files/junit-file.js';
import { STDOUT } from '../files/output.js';
import { finishedRounds, openDirectory, type ResultDirectory } from '../files/result-directory.js';
import { checkOutputs, type Output, publish } from '../options/document-outputs.js';
import { exitCodes } from '../options/exit-codes.js';
import { measuringOf } from '../options/options.js';
import { disturbedText, exitCodeOfResults, unwrittenCodes } from '../options/result-codes.js';
import { type Continued, interruptedText } from '../process/interrupted.js';
import { interruptible } from '../process/interruption.js';
import { progressDisplay } from '../terminal/progress.js';
import { say, sayUnwritten, warn } from '../terminal/talk.js';
import type { Comparing } from './comparing-task.js';
import { displayed, recorded } from './comparison-hooks.js';
import type { Conclusion } from './gating.js';
import { plannedText } from './rounds-given.js';
import { secretSettings, type StoredRequest } from './stored-request.js';

/** Returns the exit code. */
export async function measureAndPublish(task: Comparing): Promise<number> {
  const { raw, options, comparison, kept, gating } = task;
  const { systems, rounds } = comparison;
  await begin(task.inputs, options.outputs);
  const addon = loadAddon();
  // A machine without a driver can compare pods of others.
  const target =
    !options.simulate && isElsewhere(systems, ELSEWHERE)
      ? ELSEWHERE
      : chooseTarget(options, addon, simulatedDriverFolder);
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
        ...displayed(
          task,
          progress,
          directory.path,
          stage === 'pilot' || typeof rounds === 'number' ? [target.notice, ...task.words] : [],
          stage,
        ),
        ...recorded(progress, directory, systems, unwritten, stage),
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
