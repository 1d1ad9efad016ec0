/** What status and collect print of the tasks of a fleet. */
import { taskStates, type TaskState } from '../../../fleet/task-state.js';
import { type Column, table } from '../../../report/tables/table.js';
import { plain } from '../../../results/text/plain.js';

const columns: Column[] = [
  { title: 'Task', align: 'right' },
  { title: 'Node' },
  { title: 'State' },
  { title: 'Why', width: 80, wraps: true },
];

const MOST_LINES = 100;

/** Counts, then a line for each task that has not delivered. */
export function statesText(states: readonly TaskState[]): string {
  const counts = taskStates
    .map((state) => [state, states.filter((task) => task.state === state).length] as const)
    .filter(([, count]) => count > 0)
    .map(([state, count]) => `${count} ${state}`);
  const others = states.filter(({ state }) => state !== 'delivered');
  const lines = others
    .slice(0, MOST_LINES)
    .map(({ index, node, state, why }) => [String(index), plain(node ?? '–'), state, plain(why ?? '–')]);
  const more = others.length - lines.length;
  return [
    `${states.length} tasks: ${counts.join(', ')}.`,
    ...(lines.length === 0 ? [] : ['', table(columns, lines)]),
    ...(more > 0 ? [`${more} more: --json lists all.`] : []),
    '',
  ].join('\n');
}

/** The same for programs. */
export const statesJson = (states: readonly TaskState[]) =>
  states.map(({ index, node, state, why, delivery }) => ({
    index,
    node,
    state,
    why,
    attempt: delivery?.attempt ?? null,
    exitCode: delivery?.exitCode ?? null,
  }));
