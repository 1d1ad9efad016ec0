/** `gpu-virt-bench baseline save|promote|list|remove` */
import { rm, stat } from 'node:fs/promises';
import { messageOf } from '../../errors/message-of.js';
import { quoted, UsageError } from '../../errors/usage-error.js';
import { environmentOf } from '../../gate/environment.js';
import { plain } from '../../results/text/plain.js';
import { type Column, table } from '../../report/tables/table.js';
import { isSimulated, roundsOf } from '../../results/kinds.js';
import { viewOf } from '../../results/view.js';
import {
  baselineFile,
  baselineNames,
  baselineText,
  notABaseline,
  readBaseline,
  STORE,
  unknownBaseline,
} from '../../saved/baseline-store.js';
import { namedOrNewest } from '../../saved/named-document.js';
import { exitCodes } from '../options/exit-codes.js';
import { gate } from './gate.js';
import { checkJson, type RawJson, writeJson } from '../options/json-option.js';
import { makeDirectory, writeStdout, writeText, writeWhole } from '../files/output.js';
import { say, warn } from '../terminal/talk.js';

interface RawStore {
  store?: string;
}

export async function saveBaseline(
  name: string,
  file: string | undefined,
  { store = STORE, force }: RawStore & { force?: true },
): Promise<number> {
  const target = baselineFile(store, name);
  const saved = await namedOrNewest(file);
  const { path, document, skipped } = saved;
  skipped.forEach(warn);
  const why = notABaseline(saved);
  if (why !== null)
    throw new UsageError(`Expected a document that can be a baseline but received ${quoted(path)}: ${why}.`);
  if (!force && (await stat(target).catch(() => null)))
    throw new UsageError(`Expected a new name but ${quoted(target)} exists: --force replaces it.`);
  await makeDirectory(store, '--store');
  await writeWhole(target, baselineText(document));
  const { systems } = viewOf(document);
  await writeStdout(
    `Saved ${path} as baseline ${name} (${systems.map((each) => plain(each.name)).join(', ')}) in ${target}.\n`,
  );
  if (isSimulated(document)) warn(`Baseline ${name} is from a SIMULATED GPU: use it only for simulated comparisons.`);
  missingValues(saved).forEach(warn);
  return exitCodes.ok;
}

/** Judges the results against the baseline that they would replace; if they do not pass, the baseline is kept. */
export async function promoteBaseline(
  name: string,
  file: string | undefined,
  { store = STORE, config }: RawStore & { config?: string },
): Promise<number> {
  await readBaseline(store, name);
  const { path } = await namedOrNewest(file);
  const code = await gate(path, { baseline: name, store, ...(config !== undefined && { config }) });
  if (code === exitCodes.ok) return saveBaseline(name, path, { store, force: true });
  say(
    `Baseline ${name} is unchanged, because ${path} did not pass the gate; baseline save --force replaces it anyway.`,
  );
  return code;
}

function missingValues({ document }: Awaited<ReturnType<typeof namedOrNewest>>): string[] {
  const broken = roundsOf(document).flatMap(({ system, metrics }) =>
    metrics
      .filter(({ status }) => status === 'failed' || status === 'invalid')
      .map(
        ({ id, status }) => `${id} of ${system.name} is ${status} in at least one round: the baseline lacks its value.`,
      ),
  );
  return [...new Set(broken)];
}

const columns: Column[] = [
  { title: 'Baseline' },
  { title: 'Measured' },
  { title: 'GPU', width: 48 },
  { title: 'Driver' },
  { title: 'Systems', width: 32 },
  { title: 'Rounds', align: 'right' },
];

interface Listed {
  name: string;
  startedAt: string;
  gpu: string;
  driver: string;
  simulated: boolean;
  systems: string[];
  rounds: number;
}

/** A baseline that cannot be read is reported; the others are still listed. */
export async function listBaselines({ store = STORE, json }: RawStore & RawJson): Promise<number> {
  await checkJson(json);
  const listed: Listed[] = [];
  for (const name of await baselineNames(store))
    try {
      listed.push(await describe(store, name));
    } catch (error) {
      warn(messageOf(error));
    }
  if (json !== undefined) await writeJson(json, listed);
  else if (listed.length === 0) say(`No baseline in ${store}: create one with gpu-virt-bench baseline save NAME.`);
  else await writeText(`${table(columns, listed.map(row))}\n`);
  return exitCodes.ok;
}

async function describe(store: string, name: string): Promise<Listed> {
  const { document } = await readBaseline(store, name);
  const { startedAt, gpu, driver, simulated, rounds } = environmentOf(document);
  return {
    name,
    startedAt,
    gpu,
    driver,
    simulated,
    systems: viewOf(document).systems.map((each) => each.name),
    rounds,
  };
}

const row = ({ name, startedAt, gpu, driver, simulated, systems, rounds }: Listed): string[] => [
  name,
  startedAt.slice(0, 16).replace('T', ' '),
  plain(`${simulated ? 'SIMULATED ' : ''}${gpu}`),
  plain(driver),
  plain(systems.join(', ')),
  String(rounds),
];

export async function removeBaseline(name: string, { store = STORE }: RawStore): Promise<number> {
  const file = baselineFile(store, name);
  const names = await baselineNames(store);
  if (!names.includes(name)) throw unknownBaseline(store, name, names);
  await rm(file);
  await writeStdout(`Removed baseline ${name}.\n`);
  return exitCodes.ok;
}
