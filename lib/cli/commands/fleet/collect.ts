/** `gpu-virt-bench fleet collect` checks what nodes delivered, and takes deliveries from their logs. */
import { unpacked } from '../../../fleet/deliveries.js';
import { DOCUMENT } from '../../../fleet/delivery.js';
import { readPlan } from '../../../fleet/plan.js';
import { statesOf, type TaskState } from '../../../fleet/task-state.js';
import { documentIn } from '../../../saved/read.js';
import { UsageError } from '../../../errors/usage-error.js';
import { collectedStates, takeFromFile } from '../../files/collected.js';
import { writeText } from '../../files/output.js';
import { exitCodes } from '../../options/exit-codes.js';
import { checkJson, type RawJson, writeJson } from '../../options/json-option.js';
import { statesJson, statesText } from './task-table.js';
import { askedScheduler, warnOfUnmeasured } from './status.js';

export interface RawCollectOptions extends RawJson {
  from?: string[];
}

export async function collect(folder: string, { from = [], json }: RawCollectOptions): Promise<number> {
  await checkJson(json);
  const plan = await readPlan(folder);
  for (const file of from) await takeFromFile(file, folder, plan);
  const asked = await askedScheduler(folder, plan);
  // Without the scheduler nobody knows whether a node still writes.
  const found = await (asked === null ? statesOf(folder, plan, null) : collectedStates(folder, plan, asked));
  const states: TaskState[] = [];
  for (const task of found) states.push(await checkedTask(folder, task));
  await warnOfUnmeasured(folder, plan, states);
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
