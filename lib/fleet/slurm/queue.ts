/** The jobs of a plan as squeue and sacct list them: by name, so that also those are found whose submission was not noted. */
import type { FleetPlan } from '../plan.js';
import type { ScheduledTask } from '../scheduler.js';
import type { Submission } from '../submissions.js';
import { jobName } from './job-script.js';
import { askSlurm } from './program.js';

/** What Slurm calls jobs that are not over; all other states are ends. */
const WAITING = ['PENDING', 'CONFIGURING', 'REQUEUED', 'REQUEUE_HOLD', 'REQUEUE_FED', 'SPECIAL_EXIT', 'RESV_DEL_HOLD'];
const RUNNING = ['RUNNING', 'COMPLETING', 'SUSPENDED', 'SIGNALING', 'STAGE_OUT', 'STOPPED', 'RESIZING'];

const stateOf = (word: string): ScheduledTask['state'] =>
  WAITING.includes(word) ? 'waiting' : RUNNING.includes(word) ? 'running' : 'ended';

const MERGE = 'merge';

/** The task of a job, from its name (`gvb-ID-INDEX`, or `gvb-ID` of an array); undefined if it is not of the plan. */
function indexOf(id: string, name: string, element: string): number | null | undefined {
  const base = jobName(id);
  if (name === `${base}-${MERGE}`) return null;
  const text = name === base ? element : name.startsWith(`${base}-`) ? name.slice(base.length + 1) : '';
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

/** Oldest first. Throws BenchError if squeue cannot be asked; sacct may be missing. */
export async function jobsOf(plan: FleetPlan, submissions: readonly Submission[]): Promise<ScheduledTask[]> {
  const [queued, accounted] = await Promise.all([inQueue(plan), inAccounts(plan, submissions)]);
  const known = new Set(queued.map(({ job }) => job));
  // The queue is newer; it forgets what ended some minutes ago.
  return [...accounted.filter(({ job }) => !known.has(job)), ...queued];
}

async function inQueue({ id }: FleetPlan): Promise<ScheduledTask[]> {
  const user = process.getuid?.();
  const listed = await askSlurm('squeue', [
    '--noheader',
    '--array',
    '--states=all',
    '--sort=i',
    '--format=%F|%K|%T|%N|%j|%r',
    ...(user === undefined ? [] : [`--user=${user}`]),
  ]);
  return listed.split('\n').flatMap((line) => {
    const [job = '', element = '', word = '', node = '', name = '', ...reason] = line.split('|');
    const index = indexOf(id, name, element);
    if (index === undefined) return [];
    const state = stateOf(word);
    const why = reason.join('|');
    return [
      {
        index,
        job: /^\d+$/.test(element) ? `${job}_${element}` : job,
        state,
        word: state === 'waiting' && why !== 'None' && why !== '' ? why : word,
        node: node === '' ? null : node,
      },
    ];
  });
}

const MOST_AT_ONCE = 1_000;

async function inAccounts(plan: FleetPlan, submissions: readonly Submission[]): Promise<ScheduledTask[]> {
  const jobs = submissions.map(({ job }) => job);
  const listed: string[] = [];
  try {
    for (let at = 0; at < jobs.length; at += MOST_AT_ONCE)
      listed.push(
        await askSlurm('sacct', [
          '--noheader',
          '--parsable2',
          '--allocations',
          '--array',
          '--format=JobID,State,NodeList,JobName',
          `--jobs=${jobs.slice(at, at + MOST_AT_ONCE).join(',')}`,
        ]),
      );
  } catch {
    // Many clusters keep no accounts; what they no longer know is silent.
    return [];
  }
  return listed
    .join('')
    .split('\n')
    .flatMap((line) => {
      const [job = '', said = '', node = '', name = ''] = line.split('|');
      const index = indexOf(plan.id, name, job.split('_')[1] ?? '');
      if (index === undefined) return [];
      // "CANCELLED by 1000"
      const word = said.split(' ')[0] as string;
      return [{ index, job, state: stateOf(word), word, node: node === 'None assigned' || node === '' ? null : node }];
    });
}
