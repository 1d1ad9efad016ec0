/** How each task of a plan is: from its delivery, and from what the scheduler says if it was asked. */
import { hasResults, type FleetDelivery } from './delivery.js';
import { readDelivery } from './deliveries.js';
import type { FleetPlan } from './plan.js';
import { whyRefused } from './report/gather.js';
import type { ScheduledTask } from './scheduler.js';

export const taskStates = ['planned', 'running', 'delivered', 'refused', 'silent'] as const;

export interface TaskState {
  index: number;
  /** Where it ran or runs; before that, where it is planned to. */
  node: string | null;
  /**
   * `planned`: not sent, or waiting. `refused`: delivered no results, or not by the planned node, or by one that
   * delivered another task. `silent`: ended without a delivery.
   */
  state: (typeof taskStates)[number];
  /** Why it is so; null if nothing is to be said. */
  why: string | null;
  /** Whether it waits or runs. */
  isUnderWay: boolean;
  delivery: FleetDelivery | null;
  /** What `readDelivery` answered. */
  read: FleetDelivery | string | null;
}

/** What was read before, and the tasks whose delivery has changed since. */
interface Earlier {
  states: readonly TaskState[];
  changed: ReadonlySet<number>;
}

/** `scheduled`: null if nobody could be asked; then what has not delivered is silent. */
export async function statesOf(
  folder: string,
  plan: FleetPlan,
  scheduled: readonly ScheduledTask[] | null,
  earlier?: Earlier,
): Promise<TaskState[]> {
  const jobs = new Map<number, ScheduledTask>();
  for (const task of scheduled ?? []) {
    if (task.index === null) continue;
    const earlier = jobs.get(task.index);
    // The last job of a task says how it is, unless an earlier one is not over.
    if (earlier === undefined || earlier.state === 'ended') jobs.set(task.index, task);
  }
  const states: TaskState[] = [];
  const before = new Map(earlier?.states.map((state) => [state.index, state]));
  for (const task of plan.tasks) {
    const read = earlier?.changed.has(task.index) === false ? before.get(task.index)?.read : undefined;
    const found = read === undefined ? await readDelivery(folder, task.index) : read;
    const job = jobs.get(task.index);
    const isUnderWay = job !== undefined && job.state !== 'ended';
    const delivery = typeof found === 'string' ? null : found;
    const node = delivery?.node ?? job?.node ?? task.node ?? null;
    const said = typeof found === 'string' ? { state: 'refused' as const, why: found } : delivered(plan, found, job);
    const how = isUnderWay ? underWay(job) : (said ?? absent(job, scheduled !== null));
    states.push({ index: task.index, node, ...how, isUnderWay, delivery, read: found });
  }
  return misplaced(plan, states);
}

type How = Pick<TaskState, 'state' | 'why'>;

const underWay = ({ state, word }: ScheduledTask): How =>
  state === 'running' ? { state: 'running', why: null } : { state: 'planned', why: `waits: ${word}` };

function delivered(plan: FleetPlan, delivery: FleetDelivery | null, job: ScheduledTask | undefined): How | null {
  if (delivery === null) return null;
  const why = whyRefused(delivery, plan);
  if (why === null) return { state: 'delivered', why: null };
  // Slurm says whether it was cancelled or ran out of time.
  return { state: 'refused', why: wasInterrupted(delivery) && job !== undefined ? `${job.word}: ${why}` : why };
}

function absent(job: ScheduledTask | undefined, wasAsked: boolean): How {
  if (job !== undefined) return { state: 'silent', why: `job ${job.job} ended without a delivery: ${job.word}` };
  return wasAsked ? { state: 'planned', why: 'not sent' } : { state: 'silent', why: null };
}

/** A fleet has each node once: what ran elsewhere says nothing about the node that was to be measured. */
function misplaced(plan: FleetPlan, states: readonly TaskState[]): TaskState[] {
  const planned = new Map(plan.tasks.map(({ index, node }) => [index, node]));
  const first = new Map<string, number>();
  return states.map((task) => {
    if (task.state !== 'delivered' || task.node === null) return task;
    const node = planned.get(task.index);
    if (node !== undefined && node !== task.node)
      return { ...task, state: 'refused', why: `it ran on ${task.node} and was planned for ${node}` };
    const other = first.get(task.node);
    if (other !== undefined)
      return {
        ...task,
        state: 'refused',
        why: `its node ${task.node} ran task ${other} too, so another node ran none`,
      };
    first.set(task.node, task.index);
    return task;
  });
}

const INTERRUPTED = 130;

/** Whether a signal killed the command, or it ended after one. */
const wasInterrupted = ({ exitCode }: FleetDelivery): boolean => exitCode === null || exitCode === INTERRUPTED;

/** Tasks that have to be sent: those without a delivery that count and, if asked for, those that were refused. */
export const isMissing = ({ state, isUnderWay, delivery }: TaskState, withRefused: boolean): boolean => {
  if (isUnderWay || state === 'delivered') return false;
  // Results of another node, a damaged delivery, an interrupted measurement: the node itself has not answered.
  const isAnswer = state === 'refused' && delivery !== null && !hasResults(delivery) && !wasInterrupted(delivery);
  return withRefused || !isAnswer;
};
