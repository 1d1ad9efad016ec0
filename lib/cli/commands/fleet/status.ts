/** `gpu-virt-bench fleet status` */
import { messageOf } from '../../../errors/message-of.js';
import { hasResults } from '../../../fleet/delivery.js';
import { type FleetPlan, readPlan } from '../../../fleet/plan.js';
import { readSubmissions } from '../../../fleet/submissions.js';
import { statesOf, type TaskState } from '../../../fleet/task-state.js';
import { checkJson, type RawJson, writeJson } from '../../options/json-option.js';
import { exitCodes } from '../../options/exit-codes.js';
import type { Asked } from '../../files/collected.js';
import { writeText } from '../../files/output.js';
import { warn } from '../../terminal/talk.js';
import { statesJson, statesText } from './task-table.js';
import { schedulerOf } from './submit.js';

export async function status(folder: string, { json }: RawJson): Promise<number> {
  await checkJson(json);
  const plan = await readPlan(folder);
  const states = await statesOf(folder, plan, (await askedScheduler(folder, plan))?.scheduled ?? null);
  await warnOfUnmeasured(folder, plan, states);
  await (json === undefined ? writeText(statesText(states)) : writeJson(json, statesJson(states)));
  return exitCodes.ok;
}

/** Null if nobody can be asked, which is said. */
export async function askedScheduler(folder: string, plan: FleetPlan): Promise<Asked | null> {
  if (plan.scheduler === 'none') return null;
  const submissions = await readSubmissions(folder, plan);
  try {
    const scheduler = await schedulerOf(folder, plan);
    return { scheduler, scheduled: await scheduler.tasks(plan, submissions) };
  } catch (error) {
    warn(`${messageOf(error)} States are of the deliveries alone.`);
    return null;
  }
}

/** Where a node took the task of another, names the nodes that ran none. */
export async function warnOfUnmeasured(folder: string, plan: FleetPlan, states: readonly TaskState[]): Promise<void> {
  const anywhere = new Set(plan.tasks.filter(({ node }) => node === undefined).map(({ index }) => index));
  const isSecond = ({ index, state, delivery }: TaskState) =>
    anywhere.has(index) && state === 'refused' && delivery !== null && hasResults(delivery);
  if (!states.some(isSecond)) return;
  const measured = new Set(states.flatMap(({ node }) => node ?? []));
  try {
    const others = await (await schedulerOf(folder, plan)).notMeasured(measured);
    if (others.length > 0) warn(`Nodes with GPUs that ran no task: ${others.join(', ')}.`);
  } catch (error) {
    warn(messageOf(error));
  }
}
