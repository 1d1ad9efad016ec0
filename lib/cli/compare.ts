/** `gpu-virt-bench compare [SELECTOR…]` */
import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { type ComparisonDocument, type RunDocument, runDocumentSchema, SCHEMA_VERSION } from '../document.js';
import { metrics } from '../metrics/registry.js';
import { loadAddon, simulatedDriverFolder } from '../native/load.js';
import { comparisonReport } from '../report/comparison.js';
import { duration, plain } from '../report/plain.js';
import { type CompareHooks, compareSystems } from '../run/compare.js';
import { makePlan, type Plan } from '../run/plan.js';
import { selectMetrics } from '../run/select.js';
import { chooseTarget } from '../run/target.js';
import { quoted, UsageError } from '../errors/usage-error.js';
import { readConfig } from '../systems/config.js';
import { callerEnvironment } from '../systems/environment.js';
import { checkLabels } from '../systems/kinds.js';
import { parseSystems } from '../systems/parse.js';
import type { System } from '../systems/system.js';
import { exitCodes } from './exit-codes.js';
import { interruptible } from './interruption.js';
import { parseNumber, parseRunOptions, type RawRunOptions, type RunOptions } from './options.js';
import { checkTarget, STDOUT, writeStdout, writeWhole } from './output.js';
import { type ProgressDisplay, progressDisplay } from './progress.js';
import { say, warn } from './talk.js';

export interface RawCompareOptions extends RawRunOptions {
  system?: string[];
  config?: string;
  rounds?: string;
  output?: string;
  resume?: string;
}

/** Rounds of each tier (the reference's P, at least). */
const ROUNDS = { quick: 2, standard: 5, thorough: 10 } as const;
const MOST_ROUNDS = 1_000;

export async function compare(selectors: string[], raw: RawCompareOptions): Promise<number> {
  const options = parseRunOptions(raw);
  const systems = await parseAll(raw);
  const rounds = parseRounds(raw.rounds) ?? ROUNDS[options.tier];
  const plan = makePlan(selectMetrics(selectors, metrics), options.tier, options.seed);
  const words = planText(plan, systems, rounds);
  if (options.dryRun) {
    await writeStdout(`${words}\n`);
    return exitCodes.ok;
  }
  if (options.json !== undefined) await checkTarget(options.json, '--json');
  const target = chooseTarget(options, loadAddon(), simulatedDriverFolder);
  const directory = await resultDirectory(raw, systems);
  const finished = raw.resume === undefined ? [] : await finishedRounds(directory, systems, rounds);
  const progress = progressDisplay();
  try {
    const document = await interruptible((signal) =>
      compareSystems(
        { ...request(options, plan, target), systems, rounds, finished, environment: callerEnvironment(), signal },
        hooks(progress, directory, words, systems, target.notice),
      ),
    );
    progress.stop();
    await publish(document, directory, options.json);
    return exitCode(document);
  } finally {
    progress.stop();
  }
}

async function parseAll(raw: RawCompareOptions): Promise<System[]> {
  const named = parseSystems(raw.system ?? []);
  const systems = [...(raw.config === undefined ? [] : (await readConfig(raw.config)).systems), ...named];
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
  if (Number.isInteger(value) && value >= 1 && value <= MOST_ROUNDS) return value;
  throw new UsageError(`Expected --rounds to be an integer from 1 to ${MOST_ROUNDS} but received ${quoted(text)}.`);
}

function request(options: RunOptions, plan: Plan, target: ReturnType<typeof chooseTarget>) {
  const { device, requireGpu, timeoutSeconds, strict, path, measure } = options;
  return { plan, target, device, requireGpu, timeoutSeconds, strict, options: { ...measure, path } };
}

function planText(
  { metrics: selected, tier, seed, estimatedSeconds }: Plan,
  systems: readonly System[],
  rounds: number,
) {
  const ids = selected.map(({ id }) => id).sort();
  const total = estimatedSeconds * systems.length * rounds;
  const names = systems.map(({ name }) => plain(name)).join(', ');
  return `Plan: ${systems.length} systems (${names}) × ${rounds} rounds × ${ids.length} metrics (${ids.join(', ')}), tier ${tier}, seed ${seed}, about ${duration(total)}`;
}

/** Made now, so that a place that cannot be written costs no measurement. */
async function resultDirectory({ output, resume }: RawCompareOptions, systems: readonly System[]): Promise<string> {
  if (resume !== undefined) {
    const found = await stat(resume).catch(() => null);
    if (!found?.isDirectory())
      throw new UsageError(`Expected --resume to be the directory of an earlier run but received ${quoted(resume)}.`);
    return resume;
  }
  const stamp = new Date().toISOString().replace(/[:.]/g, '-').slice(0, 19);
  const names = systems
    .map(({ name }) => name.replace(/[^\w.+-]/g, '_'))
    .join('-')
    .slice(0, 80);
  const directory = output ?? join('results', `${stamp}-${names}`);
  try {
    await mkdir(directory, { recursive: true });
  } catch (error) {
    throw new UsageError(
      `Expected --output to be a directory that can be made but received ${quoted(directory)}: ${error instanceof Error ? error.message : error}.`,
    );
  }
  await checkTarget(join(directory, 'comparison.json'), '--output');
  return directory;
}

const roundFile = (round: number, index: number): string =>
  `round-${String(round + 1).padStart(4, '0')}-system-${index + 1}.json`;

/** Whole documents of the same systems; anything else in the directory is said and left alone. */
async function finishedRounds(directory: string, systems: readonly System[], rounds: number) {
  const present = new Set(await readdir(directory));
  const finished: (RunDocument | undefined)[][] = systems.map(() => []);
  for (let round = 0; round < rounds; round++)
    for (const [index, system] of systems.entries()) {
      const name = roundFile(round, index);
      if (!present.has(name)) continue;
      const document = await readRound(join(directory, name));
      if (document?.completed && document.system.name === system.name)
        (finished[index] as (RunDocument | undefined)[])[round] = document;
      else warn(`${name} is not a finished round of ${system.name}: it is measured again.`);
    }
  return finished;
}

async function readRound(path: string): Promise<RunDocument | null> {
  const found = await readJson(path);
  const { success, output } = v.safeParse(otherSchema, found);
  if (success)
    throw new UsageError(
      `Expected --resume to hold documents of schema version ${SCHEMA_VERSION} but received version ${output.schemaVersion} in ${quoted(path)}: go on with the version of gpu-virt-bench that wrote it, or begin anew with --output.`,
    );
  return v.is(runDocumentSchema, found) ? found : null;
}

const otherSchema = v.object({
  kind: v.literal('run'),
  schemaVersion: v.pipe(v.number(), v.notValue(SCHEMA_VERSION)),
});

/** Null where it cannot be read or is no JSON: then it is not a document. */
async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as unknown;
  } catch {
    return null;
  }
}

function hooks(
  progress: ProgressDisplay,
  directory: string,
  words: string,
  systems: readonly System[],
  notice: string | null,
): CompareHooks {
  let at = '';
  return {
    onStart: ({ device, because }, warnings) =>
      progress.aside(() => {
        if (notice) say(plain(notice));
        say(words);
        say(plain(`Device ${device.index}: ${device.name}, ${device.uuid} (${because}); results in ${directory}`));
        warnings.forEach(warn);
      }),
    onComputeLimit: ({ name }) => progress.doing(`compute limit of ${plain(name)}`),
    onRound: (round, { name }) => {
      at = `round ${round + 1}, ${plain(name)}`;
      progress.doing(at);
    },
    onPrepared: (_prepared, _choice, warnings) => progress.aside(() => warnings.forEach(warn)),
    onMetric: ({ id }) => progress.doing(`${at}: ${id}`),
    onProgress: ({ id, step }) => progress.doing(`${at}: ${id} ${step}`),
    onResult: () => {},
    onDocument: async (round, index, document) => {
      await writeWhole(join(directory, roundFile(round, index)), `${JSON.stringify(document, null, 2)}\n`);
      progress.aside(() =>
        say(`Round ${round + 1}, ${plain(systems[index]?.name ?? '')}: ${duration(document.durationMs / 1_000)}`),
      );
    },
  };
}

async function publish(document: ComparisonDocument, directory: string, json: string | undefined): Promise<void> {
  const text = `${JSON.stringify(document, null, 2)}\n`;
  await writeWhole(join(directory, 'comparison.json'), text);
  if (json !== undefined && json !== STDOUT) await writeWhole(json, text);
  const report = `${comparisonReport(document)}\n`;
  if (json === STDOUT) {
    await writeStdout(text);
    say(report.trimEnd());
  } else await writeStdout(report);
  document.warnings.forEach(warn);
}

/** The first that applies, in the order of the exit codes' documentation. */
function exitCode({ completed, systems }: ComparisonDocument): number {
  if (!completed) return exitCodes.interrupted;
  const results = systems.flat().flatMap(({ metrics: measured }) => measured);
  if (results.some(({ status, reason }) => status === 'invalid' && reason?.startsWith('layer not active')))
    return exitCodes.notAttested;
  return results.some(({ status }) => status === 'failed' || status === 'invalid') ? exitCodes.failed : exitCodes.ok;
}
