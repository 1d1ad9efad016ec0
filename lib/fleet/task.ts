/** Which task of a plan a node runs, and what the node is called: schedulers say both in variables. */
import { hostname } from 'node:os';
import { quoted, UsageError } from '../errors/usage-error.js';
import { indicesIn } from './index-ranges.js';
import { type FleetPlan, LONGEST_NAME } from './plan.js';

const INDEX_VARIABLES = ['SLURM_ARRAY_TASK_ID', 'JOB_COMPLETION_INDEX'];
const NODE_VARIABLES = ['SLURMD_NODENAME', 'NODE_NAME'];

type Environment = Readonly<Record<string, string | undefined>>;

interface Named {
  index?: string | undefined;
  /** Tasks among which the scheduler's index chooses, as ranges. */
  tasks?: string | undefined;
}

/** The index of a task of the plan: the one that was named, else the scheduler's. Throws UsageError. */
export function taskIndex(plan: FleetPlan, named: Named, environment: Environment): number {
  const variable = INDEX_VARIABLES.find((name) => environment[name]);
  const given = variable && environment[variable];
  const [what, text] =
    named.index !== undefined ? ['--index', named.index] : [variable, given && chosen(named.tasks, given)];
  if (what === undefined || text === undefined)
    throw new UsageError(
      `Expected the index of a task but received none: name it with --index, or start the task by a scheduler, which sets ${INDEX_VARIABLES.join(' or ')}.`,
    );
  const index = /^\d{1,9}$/.test(text) ? Number(text) : null;
  if (index !== null && plan.tasks.some((task) => task.index === index)) return index;
  const all = plan.tasks.map((task) => task.index).sort((a, b) => a - b);
  throw new UsageError(
    `Expected ${what} to be the index of a task of the plan, of which there are ${all.length} from ${all[0]} to ${all.at(-1)}, but received ${quoted(text)}.`,
  );
}

export const nodeName = (environment: Environment): string =>
  (NODE_VARIABLES.map((name) => environment[name]).find(Boolean) ?? hostname()).slice(0, LONGEST_NAME);

/** A job of some tasks counts from 0. Throws UsageError. */
function chosen(tasks: string | undefined, place: string): string {
  if (tasks === undefined) return place;
  const index = /^\d{1,9}$/.test(place) ? indicesIn(tasks)?.[Number(place)] : undefined;
  if (index !== undefined) return String(index);
  throw new UsageError(
    `Expected --tasks to be indices such as 0-3,7, of which the scheduler chooses number ${place}, but received ${quoted(tasks)}.`,
  );
}
