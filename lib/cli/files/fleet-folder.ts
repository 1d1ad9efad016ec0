/** What the machine that submits writes into a fleet's folder. */
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { quoted, UsageError } from '../../errors/usage-error.js';
import { DELIVERIES, DELIVERY } from '../../fleet/delivery.js';
import { PLAN, type FleetPlan } from '../../fleet/plan.js';
import type { ScheduledTask } from '../../fleet/scheduler.js';
import { REPORT } from '../../fleet/slurm/job-script.js';
import { SUBMISSIONS, submissionsText, type Submission } from '../../fleet/submissions.js';
import type { TaskState } from '../../fleet/task-state.js';
import { lockDirectory } from './directory-lock.js';
import { makeDirectory, writeWithoutLinks } from './output.js';

/** Runs the task while no other process writes into the folder. */
export async function inFleet<T>(folder: string, option: string, task: () => Promise<T>): Promise<T> {
  await makeDirectory(folder, option);
  const release = await lockDirectory(folder, option);
  try {
    return await task();
  } finally {
    await release();
  }
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** Writes a plan and the files beside it; the plan last, so that a folder with one is complete. Throws UsageError. */
export async function writeFleet(
  folder: string,
  plan: FleetPlan,
  files: Readonly<Record<string, string>>,
): Promise<void> {
  if (await exists(join(folder, PLAN)))
    throw new UsageError(
      `Expected --output to be a new folder but ${quoted(folder)} has a plan: fleet submit sends what is missing of it.`,
    );
  for (const [name, text] of Object.entries(files)) await writeWithoutLinks(join(folder, name), text);
  await writeWithoutLinks(join(folder, PLAN), `${JSON.stringify(plan, null, 2)}\n`);
}

export const writeSubmissions = (folder: string, plan: FleetPlan, all: readonly Submission[]): Promise<void> =>
  writeWithoutLinks(join(folder, SUBMISSIONS), submissionsText(plan, all));

/** Removes what jobs that died left in the folder, as far as none is under way; answers the tasks whose delivery that brought. */
export async function tidyFleet(
  folder: string,
  states: readonly TaskState[],
  scheduled: readonly ScheduledTask[],
): Promise<Set<number>> {
  const ended = states.filter(({ isUnderWay }) => !isUnderWay);
  const brought = await tidyDeliveries(folder, new Set(ended.map(({ index }) => index)));
  const isMerging = scheduled.some(({ index, state }) => index === null && state === 'running');
  if (!isMerging) await tidyReports(folder);
  return brought;
}

const ASIDE = /^(\d{1,9})(\.old)?\.[0-9a-f]{16}\.tmp$/;

/**
 * Removes what nodes that died wrote aside of tasks that no longer run. One of these may be whole: the node died between
 * two renames. Several processes may do so at a time.
 */
async function tidyDeliveries(folder: string, ended: ReadonlySet<number>): Promise<Set<number>> {
  const brought = new Set<number>();
  const all = join(folder, DELIVERIES);
  const names = (await readdir(all).catch(() => [])).filter((name) => {
    const [, index] = ASIDE.exec(name) ?? [];
    return index !== undefined && ended.has(Number(index));
  });
  // New ones before old ones.
  for (const name of names.sort((a, b) => Number(a.includes('.old.')) - Number(b.includes('.old.')))) {
    const [path, target] = [join(all, name), join(all, name.split('.', 1)[0] as string)];
    // Fails where the task has delivered.
    const isWhole = await exists(join(path, DELIVERY));
    if (
      isWhole &&
      (await rename(path, target).then(
        () => true,
        () => false,
      ))
    )
      brought.add(Number(basename(target)));
    await rm(path, { recursive: true, force: true });
  }
  return brought;
}

const REPORT_ASIDE = new RegExp(`^\\.${REPORT}\\..*\\.tmp$`);

/** Removes what merge jobs that were killed left of their reports. */
async function tidyReports(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => REPORT_ASIDE.test(name));
  for (const name of names) await rm(join(folder, name), { force: true });
}
