/** The directory of a run: summary.json and its reports, raw/ with every finished round, logs/ with the output on stderr. */
import { mkdir, readdir, readFile, rmdir } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import * as v from 'valibot';
import { boundedJson } from '../../results/bounded-json.js';
import { type RunDocument, runDocumentSchema, SCHEMA_VERSION } from '../../results/document.js';
import type { RawMap } from '../../config/raw.js';
import { quoted, UsageError } from '../../errors/usage-error.js';
import { jsonReport } from '../../report/formats/json.js';
import type { ResultDocument } from '../../results/kinds.js';
import { isUnattested } from '../../saved/attested.js';
import { RAW, RESULTS, SUMMARY } from '../../saved/directories.js';
import { withoutSamples } from '../../saved/lean.js';
import { SYSTEMS } from '../../saved/read.js';
import type { Stage } from '../../run/effects/detect.js';
import { configText } from '../../systems/input/config-text.js';
import type { System } from '../../systems/system.js';
import { LOCK, lockDirectory } from './directory-lock.js';
import {
  failureOf,
  isLink,
  isThere,
  makeDirectory,
  removeAbandonedAsides,
  type Text,
  writeWithoutLinks,
} from './output.js';
import { type Output, publish } from '../options/document-outputs.js';
import { REQUEST, type StoredRequest } from '../comparing/stored-request.js';
import { transcript, warn } from '../terminal/talk.js';

export const LOGS = 'logs';
const REPORTS = { markdown: 'report.md', html: 'report.html' } as const;

export interface ResultDirectory {
  path: string;
  /**
   * Stores a measured round, and the output of its worker and the layer in it; before the first one the request and its
   * systems, if there are any. Rejects if it cannot be written.
   */
  keepRound: (round: number, index: number, document: RunDocument, log: string, stage?: Stage) => Promise<void>;
  /** The file of systems that `keepRound` wrote, or null. */
  systemsFile: () => Promise<string | null>;
  /** Writes the summary, its reports and the transcript so far; returns the errors. */
  finish: (document: ResultDocument) => Promise<Error[]>;
  /** Writes the transcript again at the end; returns the errors. */
  keepTranscript: () => Promise<Error[]>;
  /** Releases the lock; removes the directory if it is new and empty. */
  close: () => Promise<void>;
}

/** Called before anything is measured, so that a directory that cannot be written costs no measurement. */
export async function openDirectory(
  { output, resume }: { output?: string; resume?: string },
  systems: readonly System[],
  request: StoredRequest | null = null,
): Promise<ResultDirectory> {
  const isUnnamed = resume === undefined && output === undefined;
  const option = resume === undefined ? '--output' : '--resume';
  const path = resume ?? output ?? (await newDirectory(systems));
  const made = (await makeDirectory(path, option)) || isUnnamed;
  const close = async (unlock: () => Promise<void>) => {
    await unlock();
    // Fails if it is not empty, and then keeps it.
    if (made) await rmdir(path).catch(() => {});
  };
  await refuseLinks(path, option);
  const unlock = await lockDirectory(path, option);
  try {
    // Checked with the lock held, because another process may have finished just before.
    if (resume === undefined) await refuseUsed(path);
    for (const folder of [RAW, LOGS]) await removeAbandonedAsides(join(path, folder));
  } catch (error) {
    await close(unlock);
    throw error;
  }
  let isRequestKept = request === null;
  return {
    path,
    keepRound: async (round, index, document, log, stage) => {
      if (!isRequestKept) {
        await writeWithoutLinks(
          join(path, SYSTEMS),
          configText(systems, request?.workloads?.map(inItsFolder), request?.prices),
        );
        if (resume === undefined) await writeWithoutLinks(join(path, REQUEST), `${JSON.stringify(request, null, 2)}\n`);
      }
      isRequestKept = true;
      await keepRound(path, roundName(round, index, stage), document, log);
    },
    systemsFile: async () => ((await isThere(join(path, SYSTEMS))) ? join(path, SYSTEMS) : null),
    finish: (document) => finish(path, document),
    keepTranscript: () => keepTranscript(path),
    close: () => close(unlock),
  };
}

async function refuseUsed(path: string): Promise<void> {
  const isComparison = await isThere(join(path, REQUEST));
  if (!isComparison && !(await isThere(join(path, SUMMARY)))) return;
  throw new UsageError(
    `Expected --output to be a directory without results but received ${quoted(path)}: name another${isComparison ? ', or continue its comparison with --resume' : ''}.`,
  );
}

/** The directory itself may be a link, because its user named it. */
async function refuseLinks(path: string, option: string): Promise<void> {
  const inside = await Promise.all(
    [RAW, LOGS].map(async (folder) =>
      (await readdir(join(path, folder)).catch(() => [])).map((name) => join(folder, name)),
    ),
  );
  for (const name of [LOCK, RAW, LOGS, REQUEST, SYSTEMS, SUMMARY, ...Object.values(REPORTS), ...inside.flat()])
    if (await isLink(join(path, name)))
      throw new UsageError(
        `Expected ${option} to be a directory without symbolic links but received ${quoted(path)}, in which ${name} is a symbolic link: it could point anywhere; remove it or name another directory.`,
      );
}

async function keepRound(path: string, name: string, document: RunDocument, log: string): Promise<void> {
  await writeInto(path, RAW, `${name}.json`, jsonReport(document));
  if (log !== '') await writeInto(path, LOGS, `${name}.log`, log);
}

async function writeInto(path: string, folder: string, name: string, text: Text): Promise<void> {
  const directory = join(path, folder);
  // If this fails, writing the file reports the reason.
  await mkdir(directory).catch(() => {});
  if (await isLink(directory))
    throw new Error(`Could not write ${quoted(name)}: ${quoted(directory)} is a symbolic link.`);
  await writeWithoutLinks(join(directory, name), text);
}

async function finish(path: string, document: ResultDocument): Promise<Error[]> {
  const outputs: Output[] = [
    { format: 'json', target: join(path, SUMMARY) },
    { format: 'markdown', target: join(path, REPORTS.markdown) },
    { format: 'html', target: join(path, REPORTS.html) },
  ];
  // The samples are in raw/.
  const unwritten = await publish(withoutSamples(document), outputs, null, writeWithoutLinks);
  return [...unwritten, ...(await keepTranscript(path))];
}

async function keepTranscript(path: string): Promise<Error[]> {
  const failure = await failureOf(writeInto(path, LOGS, 'gpu-virt-bench.log', transcript()));
  return failure ? [failure] : [];
}

/** Runs that start in the same second get directories of their own. */
async function newDirectory(systems: readonly System[]): Promise<string> {
  await makeDirectory(RESULTS, '--output');
  const name = join(RESULTS, defaultName(systems));
  for (let number = 1; ; number++) {
    const path = number === 1 ? name : `${name}-${number}`;
    try {
      await mkdir(path);
      return path;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

function defaultName(systems: readonly System[]): string {
  const stamp = new Date().toISOString().replace(/[:.]/g, '-').slice(0, 19);
  const names = systems
    .map(({ name }) => name.replace(/[^\w.+-]/g, '_'))
    .join('-')
    .slice(0, 80);
  return `${stamp}-${names}`;
}

/** Makes the folder absolute, so that it has the same meaning wherever it is read. */
const inItsFolder = ({ settings, folder }: NonNullable<StoredRequest['workloads']>[number]): RawMap => ({
  ...settings,
  folder: resolve(folder, typeof settings.folder === 'string' ? settings.folder : '.'),
});

export const roundName = (round: number, index: number, stage: Stage = 'round'): string =>
  `${stage}-${String(round + 1).padStart(4, '0')}-system-${index + 1}`;

/**
 * Complete documents of the same systems. Other files in their places, and failed rounds, are reported and measured
 * again.
 */
export async function finishedRounds(
  directory: string,
  systems: readonly System[],
  rounds: number,
  stage: Stage = 'round',
) {
  const present = new Set(await readdir(join(directory, RAW)).catch(() => []));
  const finished: (RunDocument | undefined)[][] = systems.map(() => []);
  for (let round = 0; round < rounds; round++)
    for (const [index, system] of systems.entries()) {
      const name = join(RAW, `${roundName(round, index, stage)}.json`);
      if (!present.has(basename(name))) continue;
      const document = await readRound(join(directory, name));
      const why = document && whyAgain(document);
      if (why) warn(`${name} ${why}: it is measured again.`);
      else if (document?.completed && document.system.name === system.name)
        (finished[index] as (RunDocument | undefined)[])[round] = document;
      else warn(`${name} is not a finished round of ${system.name}: it is measured again.`);
    }
  return finished;
}

/** Why a round is not reused, as the end of a sentence; null if it is. */
function whyAgain(document: RunDocument): string | null {
  const { metrics } = document;
  if (isUnattested(document)) return 'was not attested';
  if (metrics.some(({ status }) => status === 'failed')) return 'failed';
  const [dead] = metrics.filter(isOfDeath);
  if (dead) return `has ${dead.id} without a number, because a process died`;
  // The cause that made every number invalid may be gone.
  return metrics.length > 0 && metrics.every(({ status }) => status === 'invalid') ? 'has no valid number' : null;
}

/** A process that a signal ended is named so in every reason. */
const isOfDeath = ({ status, reason = '' }: RunDocument['metrics'][number]): boolean =>
  status === 'invalid' && /\bwas killed by SIG|\bworker process ended\b/.test(reason);

async function readRound(path: string): Promise<RunDocument | null> {
  const found = await readJson(path);
  const { success, output } = v.safeParse(otherSchema, found);
  if (success)
    throw new UsageError(
      `Expected --resume to hold documents of schema version ${SCHEMA_VERSION} but received version ${output.schemaVersion} in ${quoted(path)}: continue with the version of gpu-virt-bench that wrote it, or start again with --output.`,
    );
  return v.is(runDocumentSchema, found) ? found : null;
}

const otherSchema = v.object({
  kind: v.literal('run'),
  schemaVersion: v.pipe(v.number(), v.notValue(SCHEMA_VERSION)),
});

/** Null if it cannot be read or is not JSON: then it is no document. */
async function readJson(path: string): Promise<unknown> {
  try {
    return boundedJson(await readFile(path, 'utf8'));
  } catch {
    return null;
  }
}
