/** Where a comparison is kept: one file per finished round, comparison.json at the end, and what an earlier run left. */
import { readdir, readFile, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { type RunDocument, runDocumentSchema, SCHEMA_VERSION } from '../document.js';
import { quoted, UsageError } from '../errors/usage-error.js';
import type { System } from '../systems/system.js';
import { makeDirectory } from './output.js';
import { warn } from './talk.js';

export const SUMMARY = 'comparison.json';

export interface ResultDirectory {
  path: string;
  /** Removes it again where it is new and nothing was put in. */
  discard: () => Promise<void>;
}

/** Made now, so that a place that cannot be written costs no measurement. */
export async function openDirectory(
  { output, resume }: { output?: string; resume?: string },
  systems: readonly System[],
): Promise<ResultDirectory> {
  if (resume !== undefined) {
    const found = await stat(resume).catch(() => null);
    if (!found?.isDirectory())
      throw new UsageError(`Expected --resume to be the directory of an earlier run but received ${quoted(resume)}.`);
  }
  const path = resume ?? output ?? join('results', defaultName(systems));
  if (resume === undefined && (await stat(join(path, SUMMARY)).catch(() => null)))
    throw new UsageError(
      `Expected --output to be a directory without a comparison but received ${quoted(path)}: name another, or go on with it by --resume.`,
    );
  const made = await makeDirectory(path, resume === undefined ? '--output' : '--resume');
  // Not empty is no failure: then it is to stay.
  return { path, discard: async () => (made ? rmdir(path).catch(() => {}) : undefined) };
}

function defaultName(systems: readonly System[]): string {
  const stamp = new Date().toISOString().replace(/[:.]/g, '-').slice(0, 19);
  const names = systems
    .map(({ name }) => name.replace(/[^\w.+-]/g, '_'))
    .join('-')
    .slice(0, 80);
  return `${stamp}-${names}`;
}

export const roundFile = (round: number, index: number): string =>
  `round-${String(round + 1).padStart(4, '0')}-system-${index + 1}.json`;

/** Whole documents of the same systems; anything else in the directory is said and left alone. */
export async function finishedRounds(directory: string, systems: readonly System[], rounds: number) {
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
