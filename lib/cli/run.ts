/** `gpu-virt-bench run [SELECTOR…]` */
import type { RunDocument } from '../document.js';
import { metrics } from '../metrics/registry.js';
import type { NativeAddon } from '../native/addon-types.js';
import { loadAddon, simulatedDriverFolder } from '../native/load.js';
import { duration, plain } from '../report/plain.js';
import { runReport, WATERMARK } from '../report/terminal.js';
import type { Choice } from '../run/device.js';
import type { Prepared } from '../run/lane.js';
import { makePlan, type Plan } from '../run/plan.js';
import { type RunHooks, runMetrics } from '../run/run.js';
import { selectMetrics } from '../run/select.js';
import { type ChosenTarget, chooseTarget } from '../run/target.js';
import { CALLER_PRELOAD, environmentSystem } from '../systems/environment.js';
import { exitCodes } from './exit-codes.js';
import { interruptible } from './interruption.js';
import { parseRunOptions, type RawRunOptions, type RunOptions } from './options.js';
import { checkTarget, STDOUT, writeStdout, writeWhole } from './output.js';
import { type ProgressDisplay, progressDisplay } from './progress.js';
import { say, warn } from './talk.js';

export async function run(selectors: string[], raw: RawRunOptions): Promise<number> {
  const options = parseRunOptions(raw);
  const plan = makePlan(selectMetrics(selectors, metrics), options.tier, options.seed);
  if (options.dryRun) {
    const device = options.device ?? process.env.CUDA_VISIBLE_DEVICES?.split(',')[0] ?? '0';
    await writeStdout(`${planText(plan)}\nDevice ${device || '0'}, not looked for yet.\n`);
    return exitCodes.ok;
  }
  if (options.json !== undefined) await checkTarget(options.json, '--json');
  const addon = loadAddon();
  dieWithFirstStart(addon);
  const target = chooseTarget(options, addon, simulatedDriverFolder);
  const progress = progressDisplay();
  try {
    progress.doing('starting a worker');
    const document = await interruptible((signal) => measure(options, plan, target, progress, signal));
    progress.stop();
    process.exitCode = exitCode(document);
    await publish(document, options.json);
    return exitCode(document);
  } finally {
    progress.stop();
  }
}

/** Started again without LD_PRELOAD we lead our own process group, which nobody else would end. */
function dieWithFirstStart(addon: NativeAddon): void {
  if (process.env[CALLER_PRELOAD] !== undefined) addon.dieWithParent();
}

function measure(
  options: RunOptions,
  plan: Plan,
  target: ChosenTarget,
  progress: ProgressDisplay,
  signal: AbortSignal,
) {
  const hooks: RunHooks = {
    onPrepared: (prepared, choice, warnings) =>
      progress.aside(() => {
        announce(plan, target, prepared, choice);
        warnings.forEach(warn);
      }),
    onMetric: ({ id, name }) => progress.doing(`${id} ${name}`),
    onProgress: ({ id, step, fraction }) => progress.doing(`${id} ${step} ${Math.round(100 * fraction)} %`),
    onResult: (result) => progress.finished(result),
  };
  const { device, requireGpu, timeoutSeconds, strict, path } = options;
  const system = environmentSystem();
  const request = {
    plan,
    target,
    system,
    device,
    requireGpu,
    timeoutSeconds,
    strict,
    options: { ...options.measure, path },
    signal,
  };
  return runMetrics(request, hooks);
}

/** Only once a worker has looked: an error before is then the only thing on stderr. */
function announce(plan: Plan, target: ChosenTarget, { description }: Prepared, { device, because }: Choice): void {
  if (target.notice) say(plain(target.notice));
  else if (description.inspection.simulated) say(WATERMARK);
  say(planText(plan));
  say(plain(`Device ${device.index}: ${device.name}, ${device.uuid} (${because})`));
}

function planText({ metrics: ordered, tier, seed, estimatedSeconds }: Plan): string {
  const ids = ordered.map(({ id }) => id).join(', ');
  return `Plan: ${ids} (tier ${tier}, seed ${seed}), about ${duration(estimatedSeconds)}`;
}

/** The file first: a reader of stdout that has left must not cost the document. */
async function publish(document: RunDocument, json: string | undefined): Promise<void> {
  const text = `${JSON.stringify(document, null, 2)}\n`;
  const report = `${runReport(document)}\n`;
  if (json === STDOUT) {
    await writeStdout(text);
    say(report.trimEnd());
  } else
    try {
      if (json !== undefined) await writeWhole(json, text);
    } finally {
      await writeStdout(report);
    }
  document.warnings.forEach(warn);
}

function exitCode({ completed, metrics: results }: RunDocument): number {
  if (!completed) return exitCodes.interrupted;
  return results.some(({ status }) => status === 'failed' || status === 'invalid') ? exitCodes.failed : exitCodes.ok;
}
