/** Brings what nodes delivered into a fleet's folder: from logs, and from where nodes that died left it. */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { whyUnreadable } from '../../errors/unreadable.js';
import { quoted, UsageError } from '../../errors/usage-error.js';
import { readDelivery } from '../../fleet/deliveries.js';
import type { FleetDelivery } from '../../fleet/delivery.js';
import { FrameReader } from '../../fleet/frames.js';
import { UnreadableError } from '../../saved/regular-file.js';
import type { FleetPlan } from '../../fleet/plan.js';
import type { ScheduledTask, Scheduler } from '../../fleet/scheduler.js';
import { statesOf, type TaskState } from '../../fleet/task-state.js';
import { warn } from '../terminal/talk.js';
import { nextAttempt, writeDelivery } from './delivery-folder.js';
import { tidyFleet } from './fleet-folder.js';

export interface Asked {
  scheduler: Scheduler;
  scheduled: readonly ScheduledTask[];
}

/** The states of all tasks once everything was brought that is there. */
export async function collectedStates(
  folder: string,
  plan: FleetPlan,
  { scheduler, scheduled }: Asked,
): Promise<TaskState[]> {
  const states = await statesOf(folder, plan, scheduled);
  const brought = await tidyFleet(folder, states, scheduled);
  if (scheduler.logs) {
    const missing = new Set(states.filter(({ delivery }) => delivery === null).map(({ index }) => index));
    const ended = scheduled.filter(({ index, state }) => index !== null && state === 'ended' && missing.has(index));
    const { taken } = await takeFrom(scheduler.logs(ended), 'a log of kubectl', folder, plan);
    for (const index of taken) brought.add(index);
  }
  return brought.size === 0 ? states : statesOf(folder, plan, scheduled, { states, changed: brought });
}

/** Throws UsageError for a file that cannot be read. */
export async function takeFromFile(file: string, folder: string, plan: FleetPlan): Promise<void> {
  try {
    const lines = createInterface({ input: createReadStream(file), crlfDelay: Infinity });
    const { isWithout } = await takeFrom(lines, file, folder, plan);
    if (isWithout) warn(`${file}: it holds no delivery, as fleet node --deliver stdout prints it.`);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && 'syscall' in error)) throw error;
    throw new UsageError(
      `Expected --from to be a log that can be read but received ${quoted(file)}: ${whyUnreadable(error)}.`,
    );
  }
}

interface Taken {
  /** The indices of the tasks whose deliveries were not there yet. */
  taken: Set<number>;
  /** Whether no line was of a delivery. */
  isWithout: boolean;
}

/** Takes deliveries from lines; those that are there already are left as they are. */
async function takeFrom(lines: AsyncIterable<string>, source: string, folder: string, plan: FleetPlan): Promise<Taken> {
  const reader = new FrameReader();
  const taken = new Set<number>();
  let isWithout = true;
  const problem = (why: string) => {
    isWithout = false;
    warn(`${source}: ${why}.`);
  };
  for await (const line of lines)
    try {
      const found = reader.push(line);
      if (found === null) continue;
      isWithout = false;
      if (await take(found, folder, plan, problem)) taken.add(found.delivery.index);
    } catch (error) {
      if (!(error instanceof UnreadableError)) throw error;
      problem(error.why);
    }
  const { unfinished } = reader;
  if (unfinished > 0)
    problem(unfinished === 1 ? '1 delivery begins and does not end' : `${unfinished} deliveries begin and do not end`);
  return { taken, isWithout };
}

/** Answers whether it was not there yet. */
async function take(
  { delivery, document }: { delivery: FleetDelivery; document: Buffer | null },
  folder: string,
  plan: FleetPlan,
  problem: (why: string) => void,
): Promise<boolean> {
  const { index } = delivery;
  const why =
    delivery.plan !== plan.id
      ? `a delivery of task ${index} is of another plan, ${delivery.plan}`
      : plan.tasks.some((task) => task.index === index)
        ? null
        : `the plan has no task ${index}`;
  if (why !== null) {
    problem(why);
    return false;
  }
  const earlier = await readDelivery(folder, index);
  if (earlier !== null && typeof earlier !== 'string' && earlier.ended >= delivery.ended) return false;
  await writeDelivery(folder, { ...delivery, attempt: await nextAttempt(folder, index) }, document);
  return true;
}
