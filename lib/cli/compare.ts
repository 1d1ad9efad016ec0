/** `gpu-virt-bench compare [SELECTOR…]` */
import type { ComparisonDocument } from '../results/document.js';
import { metrics } from '../metrics/registry.js';
import { loadAddon, simulatedDriverFolder } from '../native/load.js';
import { comparisonReport } from '../report/comparison.js';
import { percentOf } from '../report/detection.js';
import { capitalised, duration, plain } from '../results/plain.js';
import { type CompareHooks, compareSystems, refuseUnavailable } from '../run/compare.js';
import {
  type Aim,
  checkDetectable,
  compareToDetect,
  FEWEST_ROUNDS,
  PILOT_ROUNDS,
  type Stage,
  type Staged,
} from '../run/detect.js';
import { makePlan, type Plan } from '../run/plan.js';
import { selectMetrics } from '../run/select.js';
import { chooseTarget } from '../run/target.js';
import { quoted, UsageError } from '../errors/usage-error.js';
import { callerEnvironment } from '../systems/environment.js';
import { checkLabels, here, type Surroundings } from '../systems/kinds.js';
import { parseSystems } from '../systems/parse.js';
import type { System } from '../systems/system.js';
import { MOST_POSSIBLE, parseAim, plannedText, type RawDetecting } from './detecting.js';
import { exitCodes } from './exit-codes.js';
import { type Conclusion, type Gating, prepareGating, type RawGating } from './gating.js';
import { dieWithFirstStart } from './first-start.js';
import { interruptedText } from './interrupted.js';
import { interruptible } from './interruption.js';
import { junitTargets, markUnfinished } from './junit-file.js';
import { preparePricing, type RawPricing } from '../run/pricing.js';
import { parseNumber, parseRunOptions, type RawRunOptions, type RunOptions } from './options.js';
import { failureOf, STDOUT, writeText } from './output.js';
import { checkOutputs, type Output, publish } from './document-outputs.js';
import { type ProgressDisplay, progressDisplay } from './progress.js';
import { finishedRounds, openDirectory, type ResultDirectory } from './result-directory.js';
import { exitCodeOfResults, unwrittenCodes } from './result-codes.js';
import {
  checkUnchanged,
  continuedOptions,
  describeRequest,
  readRequest,
  secretSettings,
  storedSystems,
} from './stored-request.js';
import { say, sayUnwritten, warn } from './talk.js';

export interface RawCompareOptions extends RawRunOptions, RawGating, RawDetecting, RawPricing {
  system?: string[];
  config?: string;
  output?: string;
  resume?: string;
  allowMissing?: true;
  keepGoing?: true;
}

/** Rounds of each tier (the reference's P, at least). */
const ROUNDS = { quick: 2, standard: 5, thorough: 10 } as const;

/** `isGiven` tells whether the user named an option; the others have defaults, or the values that --resume continues. */
export async function compare(
  selectors: string[],
  given: RawCompareOptions,
  isGiven: (option: string) => boolean,
): Promise<number> {
  const stored = given.resume === undefined ? null : await readRequest(given.resume);
  const raw = stored ? { ...given, ...continuedOptions(stored, isGiven) } : given;
  const options = parseRunOptions(raw);
  const isSystemGiven = raw.system !== undefined || raw.config !== undefined;
  const systems = stored && !isSystemGiven ? storedSystems(stored, raw.allowMissing ?? false) : await parseAll(raw);
  const aim = parseAim(raw);
  const rounds = parseRounds(raw.rounds) ?? ROUNDS[options.tier];
  const plan = makePlan(
    selectMetrics(stored && selectors.length === 0 ? stored.metrics : selectors, metrics),
    options.tier,
    options.seed,
  );
  if (aim) checkDetectable(plan.metrics);
  const words = planText(plan, systems, aim ?? rounds);
  const kept = await describeRequest(
    plan,
    { ...raw, seed: `${plan.seed}`, ...(!aim && { rounds: `${rounds}` }) },
    systems,
  );
  if (stored) checkUnchanged(stored, kept, given.resume as string);
  const pricing = await preparePricing(raw, kept.metrics);
  const gating = await prepareGating(raw, systems, options.outputs, aim ? FEWEST_ROUNDS : rounds);
  refuseUnavailable({ systems, ...toleranceOf(raw) });
  if (options.dryRun) {
    await writeText(`${words}\n`);
    sayUnavailable(systems);
    return exitCodes.ok;
  }
  await begin(raw, options.outputs);
  const addon = loadAddon();
  dieWithFirstStart(addon);
  const target = chooseTarget(options, addon, simulatedDriverFolder);
  const directory = await openDirectory(raw, systems, kept);
  for (const name of secretSettings(kept))
    warn(`${name} is secret and not recorded, so this comparison cannot be continued with --resume.`);
  const progress = progressDisplay();
  const unwritten: Error[] = [];
  try {
    const staged: Staged = {
      finished: async (stage, count) => (stored ? finishedRounds(directory.path, systems, count, stage) : []),
      hooks: (stage) => ({
        ...hooks(progress, directory.path, stage === 'pilot' || !aim ? [target.notice, words] : [], stage, gating),
        ...recorder(progress, directory, systems, unwritten, stage),
      }),
      onPlanned: (detection, count) => progress.aside(() => say(plannedText(detection, count))),
    };
    const measured = await interruptible(async (signal) => {
      const wanted = {
        ...request(options, plan, target),
        ...toleranceOf(raw),
        systems,
        environment: callerEnvironment(),
        signal,
      };
      if (aim) return compareToDetect(wanted, aim, staged);
      const finished = await staged.finished('round', rounds);
      return compareSystems({ ...wanted, rounds, finished }, staged.hooks('round'));
    });
    progress.stop();
    const document = pricing(await withSystemsFile(measured, directory));
    const judged = gating?.conclude(document);
    unwritten.push(...(await publishAll(document, directory, options.outputs, judged, unwritten)));
    document.warnings.forEach(warn);
    unwritten.push(...(await directory.keepTranscript()));
    sayUnwritten(unwritten, `With room, --resume ${directory.path} continues from what is there.`);
    if (!document.completed) say(interruptedText(document, raw, secretSettings(kept)));
    return exitCode(document, unwritten, judged?.exitCode);
  } finally {
    progress.stop();
    await directory.close();
  }
}

/** Reports name it in the command that measures the same again. */
async function withSystemsFile(document: ComparisonDocument, directory: ResultDirectory): Promise<ComparisonDocument> {
  const config = await directory.systemsFile();
  return config === null ? document : { ...document, plan: { ...document.plan, config } };
}

/** Of --allow-missing: without it they are refused. */
function sayUnavailable(systems: readonly System[]): void {
  for (const { name, unavailable } of systems)
    if (unavailable !== null) warn(`${name} cannot be measured here and would be kept as unsupported: ${unavailable}`);
}

/** Checks what can be checked without measuring; then JUnit files of earlier runs no longer count. */
async function begin({ gate, config, profile }: RawCompareOptions, outputs: readonly Output[]) {
  const inputs = [gate, config, profile].filter((file) => file !== undefined);
  await checkOutputs(outputs, inputs);
  await markUnfinished(junitTargets(outputs));
}

async function configuredSystems(config: string, surroundings: Surroundings): Promise<System[]> {
  const { readConfig } = await import('../systems/config.js');
  return (await readConfig(config, surroundings)).systems;
}

async function parseAll(raw: RawCompareOptions): Promise<System[]> {
  const surroundings = { ...here(), allowMissing: raw.allowMissing ?? false };
  const named = parseSystems(raw.system ?? [], surroundings);
  const configured = raw.config === undefined ? [] : await configuredSystems(raw.config, surroundings);
  const systems = [...configured, ...named];
  checkLabels(systems);
  if (systems.length < 2)
    throw new UsageError(
      `Expected at least two systems to compare but received ${systems.length}: name them with --system, e.g. --system native --system hami-core:library=/path/libvgpu.so,memory=10GiB.`,
    );
  return systems;
}

function parseRounds(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = parseNumber('--rounds', text);
  if (Number.isInteger(value) && value >= 1 && value <= MOST_POSSIBLE) return value;
  throw new UsageError(`Expected --rounds to be an integer from 1 to ${MOST_POSSIBLE} but received ${quoted(text)}.`);
}

const toleranceOf = (raw: RawCompareOptions) => ({
  allowMissing: raw.allowMissing === true,
  keepGoing: raw.keepGoing === true,
});

function request(options: RunOptions, plan: Plan, target: ReturnType<typeof chooseTarget>) {
  const { device, requireGpu, timeoutSeconds, strict, path, measure } = options;
  return { plan, target, device, requireGpu, timeoutSeconds, strict, options: { ...measure, path } };
}

function planText(
  { metrics: selected, tier, seed, estimatedSeconds }: Plan,
  systems: readonly System[],
  planned: number | Aim,
) {
  const ids = selected.map(({ id }) => id).sort();
  const time = (count: number) => duration(estimatedSeconds * systems.length * count);
  const names = systems.map(({ name }) => plain(name)).join(', ');
  const text = (rounds: string, about: string) =>
    `Plan: ${systems.length} systems (${names}) × ${rounds} × ${ids.length} metrics (${ids.join(', ')}), tier ${tier}, seed ${seed}, about ${about}`;
  if (typeof planned === 'number') return text(`${planned} rounds`, time(planned));
  const { effect, mostRounds } = planned;
  return text(
    `${PILOT_ROUNDS} rounds of a pilot, then ${FEWEST_ROUNDS} to ${mostRounds} rounds that detect ${percentOf(effect)}`,
    `${time(PILOT_ROUNDS + FEWEST_ROUNDS)} to ${time(PILOT_ROUNDS + mostRounds)}`,
  );
}

function hooks(
  progress: ProgressDisplay,
  directory: string,
  intro: readonly (string | null)[],
  stage: Stage,
  gating: Gating | null,
): Omit<CompareHooks, 'onDocument' | 'onLog'> {
  let at = '';
  let system = '';
  return {
    onStart: ({ device, because }, warnings) =>
      progress.aside(() => {
        if (intro.length === 0) return;
        for (const line of intro) if (line) say(plain(line));
        say(plain(`Device ${device.index}: ${device.name}, ${device.uuid} (${because}); results in ${directory}`));
        warnings.forEach(warn);
      }),
    onComputeLimit: ({ name }) => progress.doing(`compute limit of ${plain(name)}`),
    onRound: (round, { name }) => {
      system = name;
      at = `${roundOf(stage)} ${round + 1}, ${plain(name)}`;
      progress.doing(at);
    },
    onWaiting: (what) => progress.doing(`${at === '' ? '' : `${at}: `}waiting for ${what}`),
    onPrepared: ({ description }, _choice, warnings) => {
      gating?.checkWorld(description.inspection.simulated);
      progress.aside(() => warnings.forEach(warn));
    },
    onMetric: ({ id }) => progress.doing(`${at}: ${id}`),
    onProgress: ({ id, step }) => progress.doing(`${at}: ${id} ${step}`),
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
): Pick<CompareHooks, 'onLog' | 'onDocument'> {
  let log = '';
  return {
    onLog: (text) => {
      log += text;
    },
    onDocument: async (round, index, document, origin) => {
      const which = `${capitalised(roundOf(stage))} ${round + 1}, ${plain(systems[index]?.name ?? '')}`;
      const outcome = origin === 'measured' ? duration(document.durationMs / 1_000) : origin;
      // It is in the directory already.
      if (origin === 'reused') return progress.aside(() => say(`${which}: ${outcome}`));
      const failure = await failureOf(directory.keepRound(round, index, document, log, stage));
      log = '';
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
  // The gate's own cases take the place of those of the defaults.
  const outputs = asked.filter(({ format }) => !judged || format !== 'junit');
  const free = asked.every(({ target }) => target !== STDOUT);
  const unwritten = [...((await judged?.writeFiles()) ?? []), ...(await directory.finish(document))];
  // Where the reader of standard output closes it, nothing after this runs.
  process.exitCode = exitCode(document, [...before, ...unwritten], judged?.exitCode);
  const report = comparisonReport(document);
  const isJunitThere = !free && outputs.every(({ target }) => target !== STDOUT);
  if (isJunitThere) say(report);
  unwritten.push(...(await publish(document, outputs, isJunitThere ? null : report)));
  return [...unwritten, ...((await judged?.tell(free)) ?? [])];
}

const exitCode = (document: ComparisonDocument, unwritten: readonly Error[], judged: number = exitCodes.ok): number =>
  exitCodeOfResults(document, [judged, ...unwrittenCodes(unwritten)]);
