/** `gpu-virt-bench run [SELECTOR…]` */
import { measureRun, planRun } from '../../api/run.js';
import type { RunDocument, Tier } from '../../results/document.js';
import { checkTemporary } from '../../environment/temporary.js';
import type { MetricDefinition } from '../../metrics/core/metric.js';
import { parsePurpose, purposeText } from '../../metrics/purposes.js';
import { metrics } from '../../metrics/registry.js';
import { loadAddon, simulatedDriverFolder } from '../../native/load.js';
import { worryText } from '../../results/text/health-text.js';
import { isSimulated } from '../../results/kinds.js';
import { duration, plain } from '../../results/text/plain.js';
import { runReport, WATERMARK } from '../../report/formats/terminal.js';
import { type Choice, choiceText } from '../../run/plan/device.js';
import type { Prepared } from '../../run/lane.js';
import { type Plan, secondsOf } from '../../run/plan/plan.js';
import type { RunHooks } from '../../run/run-request.js';
import { type ChosenTarget, chooseTarget } from '../../run/plan/target.js';
import { exitCodes } from '../options/exit-codes.js';
import { interruptible } from '../process/interruption.js';
import { junitTargets, markUnfinished } from '../files/junit-file.js';
import type { RawPricing } from '../../run/effects/pricing.js';
import { measuringOf, parseRunOptions, type RawRunOptions } from '../options/options.js';
import { failureOf, writeText } from '../files/output.js';
import { checkOutputs, publish } from '../options/document-outputs.js';
import { type ProgressDisplay, progressDisplay } from '../terminal/progress.js';
import { openDirectory, type ResultDirectory } from '../files/result-directory.js';
import { disturbedText, exitCodeOfResults, unwrittenCodes } from '../options/result-codes.js';
import { say, sayUnwritten, warn } from '../terminal/talk.js';

export interface RawOutputRunOptions extends RawRunOptions, RawPricing {
  output?: string;
  for?: string;
}

export async function run(selectors: string[], raw: RawOutputRunOptions): Promise<number> {
  const options = parseRunOptions(raw);
  const purpose = raw.for === undefined ? null : parsePurpose('--for', raw.for);
  const { tier, seed } = options;
  const planned = await planRun({ selectors, purpose, tier, seed, profile: raw.profile });
  const { plan } = planned;
  const left = planned.isFirstRun ? leftOutText(plan.metrics, tier) : null;
  if (options.dryRun) {
    const device = options.device ?? process.env.CUDA_VISIBLE_DEVICES?.split(',')[0] ?? '0';
    await writeText(
      `${planText(plan)}\n${left === null ? '' : `${left}\n`}Device ${device || '0'}, not checked yet.\n`,
    );
    return exitCodes.ok;
  }
  await checkOutputs(options.outputs, raw.profile === undefined ? [] : [raw.profile]);
  await markUnfinished(junitTargets(options.outputs));
  checkTemporary();
  const addon = loadAddon();
  const target = chooseTarget(options, addon, simulatedDriverFolder);
  const directory = raw.output === undefined ? null : await openDirectory(raw, []);
  const progress = progressDisplay();
  let log = '';
  const onLog = (text: string) => {
    log += text;
  };
  try {
    progress.doing('starting a worker');
    const hooks = runHooks(plan, target, progress, onLog);
    const document = await interruptible((signal) => measureRun(planned, measuringOf(options, target, signal), hooks));
    progress.stop();
    process.exitCode = exitCodeOfResults(document);
    const unwritten = directory ? await kept(directory, document, log) : [];
    unwritten.push(
      ...(await publish(
        document,
        options.outputs,
        [runReport(document), ...(left === null ? [] : ['', left])].join('\n'),
      )),
    );
    document.warnings.forEach(warn);
    const worry = worryText(failedChecks(document), isSimulated(document));
    if (worry !== null) say(worry);
    const disturbed = disturbedText(document);
    if (disturbed !== null) say(disturbed);
    unwritten.push(...((await directory?.keepTranscript()) ?? []));
    sayUnwritten(unwritten);
    return exitCodeOfResults(document, unwrittenCodes(unwritten));
  } finally {
    progress.stop();
    await directory?.close();
  }
}

async function kept(directory: ResultDirectory, document: RunDocument, log: string): Promise<Error[]> {
  const failure = await failureOf(directory.keepRound(0, 0, document, log));
  const others = await directory.finish(document);
  return failure ? [failure, ...others] : others;
}

function runHooks(
  plan: Plan,
  target: ChosenTarget,
  progress: ProgressDisplay,
  onLog: (text: string) => void,
): RunHooks {
  return {
    onPrepared: (prepared, choice, warnings) =>
      progress.aside(() => {
        announce(plan, target, prepared, choice);
        warnings.forEach(warn);
      }),
    onWaiting: (what) => progress.doing(`waiting for ${what}`),
    onMetric: ({ id, name }) => progress.doing(`${id} ${name}`),
    onProgress: ({ id, step, fraction }) => progress.doing(`${id} ${step} ${Math.round(100 * fraction)} %`),
    onResult: (result) => progress.finished(result),
    onFailedProof: (reason) => progress.aside(() => warn(reason)),
    onLog,
  };
}

/** Called only after a worker has seen the GPU, so that an earlier error is the only output on stderr. */
function announce(plan: Plan, target: ChosenTarget, { description }: Prepared, choice: Choice): void {
  if (target.notice) say(plain(target.notice));
  else if (description.inspection.simulated) say(WATERMARK);
  say(planText(plan));
  say(plain(choiceText(choice)));
}

function planText({ metrics: ordered, tier, seed, estimatedSeconds, purpose }: Plan): string {
  const ids = ordered.map(({ id }) => id).join(', ');
  const words = `Plan: ${ids} (tier ${tier}, seed ${seed}), about ${duration(estimatedSeconds)}`;
  return purpose ? `${words}\n${purposeText(purpose)}` : words;
}

const failedChecks = ({ health }: RunDocument): string[] =>
  [...health.before, ...health.after].filter(({ passed }) => passed === false).map(({ name }) => name);

/** Says which set was measured if nothing was named. */
function leftOutText({ length }: readonly MetricDefinition[], tier: Tier): string {
  const all = metrics.length;
  return `This is the set of a first run: ${length} of ${all} metrics; ${all - length} are left out. \`run all\` measures them too, in about ${duration(secondsOf(metrics, tier))}; \`list\` shows them.`;
}
