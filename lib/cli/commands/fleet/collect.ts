/** `gpu-virt-bench fleet collect` checks what nodes delivered, and takes deliveries from their logs. */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { readDelivery, unpacked } from '../../../fleet/deliveries.js';
import { DOCUMENT, type FleetDelivery } from '../../../fleet/delivery.js';
import { FrameReader } from '../../../fleet/frames.js';
import { UnreadableError } from '../../../fleet/json-file.js';
import { type FleetPlan, readPlan } from '../../../fleet/plan.js';
import { statesOf, type TaskState } from '../../../fleet/task-state.js';
import { documentIn } from '../../../saved/read.js';
import { whyUnreadable } from '../../../errors/unreadable.js';
import { quoted, UsageError } from '../../../errors/usage-error.js';
import { nextAttempt, writeDelivery } from '../../files/delivery-folder.js';
import { tidyFleet } from '../../files/fleet-folder.js';
import { writeText } from '../../files/output.js';
import { exitCodes } from '../../options/exit-codes.js';
import { checkJson, type RawJson, writeJson } from '../../options/json-option.js';
import { warn } from '../../terminal/talk.js';
import { statesJson, statesText } from './task-table.js';
import { scheduledTasks, warnOfUnmeasured } from './status.js';

export interface RawCollectOptions extends RawJson {
  from?: string[];
}

export async function collect(folder: string, { from = [], json }: RawCollectOptions): Promise<number> {
  await checkJson(json);
  const plan = await readPlan(folder);
  for (const file of from) await takeFrom(file, folder, plan);
  const scheduled = await scheduledTasks(folder, plan);
  // Without the scheduler nobody knows whether a node still writes.
  if (scheduled !== null) await tidyFleet(folder, await statesOf(folder, plan, scheduled), scheduled);
  const states: TaskState[] = [];
  for (const task of await statesOf(folder, plan, scheduled)) states.push(await checkedTask(folder, task));
  await warnOfUnmeasured(plan, states);
  await (json === undefined ? writeText(statesText(states)) : writeJson(json, statesJson(states)));
  return states.every(({ state }) => state === 'delivered') ? exitCodes.ok : exitCodes.failed;
}

/** A delivery counts if its document can be read. */
async function checkedTask(folder: string, task: TaskState): Promise<TaskState> {
  if (task.state !== 'delivered' || task.delivery === null) return task;
  const found = await unpacked(folder, task.delivery);
  const why = typeof found === 'string' ? found : whyNoDocument(found.text);
  return why === null ? task : { ...task, state: 'refused', why };
}

function whyNoDocument(text: string): string | null {
  try {
    documentIn(DOCUMENT, text);
    return null;
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
}

/** Deliveries among the lines of a log; those that are there already are left as they are. */
async function takeFrom(file: string, folder: string, plan: FleetPlan): Promise<void> {
  const reader = new FrameReader();
  const problem = (why: string) => warn(`${file}: ${why}.`);
  try {
    for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
      try {
        const found = reader.push(line);
        if (found !== null) await take(found, folder, plan, problem);
      } catch (error) {
        if (!(error instanceof UnreadableError)) throw error;
        problem(error.why);
      }
    }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && 'syscall' in error)) throw error;
    throw new UsageError(
      `Expected --from to be a log that can be read but received ${quoted(file)}: ${whyUnreadable(error)}.`,
    );
  }
  if (reader.unfinished > 0) problem(`${reader.unfinished} deliveries begin and do not end`);
}

async function take(
  { delivery, document }: { delivery: FleetDelivery; document: Buffer | null },
  folder: string,
  plan: FleetPlan,
  problem: (why: string) => void,
): Promise<void> {
  const { index } = delivery;
  if (delivery.plan !== plan.id) return problem(`a delivery of task ${index} is of another plan, ${delivery.plan}`);
  if (!plan.tasks.some((task) => task.index === index)) return problem(`the plan has no task ${index}`);
  const earlier = await readDelivery(folder, index);
  if (earlier !== null && typeof earlier !== 'string' && earlier.ended >= delivery.ended) return;
  await writeDelivery(folder, { ...delivery, attempt: await nextAttempt(folder, index) }, document);
}
