/** `gpu-virt-bench fleet submit` sends the tasks of a plan that have not delivered and do not wait or run. */
import { messageOf } from '../../../errors/message-of.js';
import { UsageError } from '../../../errors/usage-error.js';
import { type FleetPlan, readPlan } from '../../../fleet/plan.js';
import type { ScheduledTask, Scheduler } from '../../../fleet/scheduler.js';
import { clusterOf } from '../../../fleet/kubernetes/cluster-file.js';
import { slurm } from '../../../fleet/slurm/slurm.js';
import { readSubmissions, type Submission } from '../../../fleet/submissions.js';
import { isMissing, type TaskState } from '../../../fleet/task-state.js';
import { commandLine } from '../../../results/text/command-line.js';
import { plain } from '../../../results/text/plain.js';
import { collectedStates } from '../../files/collected.js';
import { inFleet, writeSubmissions } from '../../files/fleet-folder.js';
import { exitCodes } from '../../options/exit-codes.js';
import { say } from '../../terminal/talk.js';

export interface RawSubmitOptions {
  refused?: true;
}

/** Throws UsageError for a plan that no scheduler here knows. */
export async function schedulerOf(folder: string, plan: FleetPlan): Promise<Scheduler> {
  const { scheduler } = plan;
  if (scheduler === 'slurm') return slurm;
  if (scheduler === 'kubernetes') return clusterOf(folder, plan);
  throw new UsageError(
    'Expected a plan for a scheduler but received one without: start fleet node on each node yourself.',
  );
}

export async function submit(folder: string, { refused }: RawSubmitOptions): Promise<number> {
  const plan = await readPlan(folder);
  const scheduler = await schedulerOf(folder, plan);
  return inFleet(folder, 'the folder of the fleet', () =>
    sendMissing(scheduler, { folder, plan, withRefused: refused === true }),
  );
}

interface Submitting {
  folder: string;
  plan: FleetPlan;
  withRefused: boolean;
}

/** Between two tasks, so that none is sent that is not noted. */
function interruption(): AbortSignal {
  const controller = new AbortController();
  const error = Object.assign(new Error('interrupted.'), { name: 'InterruptedError' });
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => controller.abort(error));
  return controller.signal;
}

/** Runs while the folder is locked. */
export async function sendMissing(scheduler: Scheduler, { folder, plan, withRefused }: Submitting): Promise<number> {
  const submissions = await readSubmissions(folder, plan);
  const scheduled = await scheduler.tasks(plan, submissions);
  const states = await collectedStates(folder, plan, { scheduler, scheduled });
  const missing = states.filter((task) => isMissing(task, withRefused));
  const waiting = scheduled.filter(({ state, index }) => state !== 'ended' && index !== null);
  if (missing.length === 0 && (!scheduler.merges || hasMerge(scheduled, submissions))) {
    say(`Nothing to send: ${waiting.length} tasks wait or run, the others have delivered${refusedText(states)}.`);
    return exitCodes.ok;
  }
  const planned = new Map(plan.tasks.map(({ index, node }) => [index, node]));
  const sending = scheduler.send(folder, plan, {
    tasks: missing.map(({ index }) => ({ index, node: planned.get(index) })),
    notOn: deliveredNodes(states),
    alsoAfter: waiting.map(({ job }) => job),
    signal: interruption(),
  });
  return noted(sending, { folder, plan, submissions, missing, merges: scheduler.merges });
}

/** Whether a merge was sent after the last tasks: a command that was killed before has sent none. */
const hasMerge = (scheduled: readonly ScheduledTask[], submissions: readonly Submission[]): boolean =>
  submissions.at(-1)?.indices.length === 0 || scheduled.some(({ index, state }) => index === null && state !== 'ended');

/** Deliveries are files that anybody may have written: a list of nodes in place of a name would exclude others too. */
const isName = (node: string): boolean => /^\w[\w.-]*$/.test(node);

const deliveredNodes = (states: readonly TaskState[]): string[] => [
  ...new Set(states.flatMap(({ state, node }) => (state === 'delivered' && isName(node ?? '') ? (node ?? []) : []))),
];

/** How often what was sent is noted while more is sent; jobs that were not noted are found by their names. */
const NOTE_MS = 1_000;

async function noted(
  sending: AsyncGenerator<Submission>,
  {
    folder,
    plan,
    submissions,
    missing,
    merges,
  }: Omit<Submitting, 'withRefused'> & {
    missing: readonly TaskState[];
    submissions: readonly Submission[];
    merges: boolean;
  },
): Promise<number> {
  const all = [...submissions];
  let lastNote = 0;
  try {
    for await (const submission of sending) {
      all.push(submission);
      if (Date.now() - lastNote < NOTE_MS) continue;
      await writeSubmissions(folder, plan, all);
      lastNote = Date.now();
    }
  } catch (error) {
    const sent = all.slice(submissions.length).reduce((count, { indices }) => count + indices.length, 0);
    say(
      `Sent ${sent} of ${missing.length} tasks, then: ${plain(messageOf(error))} fleet submit sends the others${merges ? ', and the job that merges' : ''}.`,
    );
    throw error;
  } finally {
    await writeSubmissions(folder, plan, all);
  }
  const last = all.at(-1)?.job;
  const then = merges
    ? `job ${last} merges when they have ended`
    : `${commandLine(['fleet', 'collect', folder])} takes what has ended`;
  say(`Sent ${missing.length} of ${plan.tasks.length} tasks; ${then}.`);
  return exitCodes.ok;
}

function refusedText(states: readonly TaskState[]): string {
  const count = states.filter(({ state }) => state === 'refused').length;
  return count === 0 ? '' : `, of which ${count} are refused: --refused sends them again`;
}
