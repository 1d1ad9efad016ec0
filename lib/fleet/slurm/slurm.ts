/** Slurm as the scheduler of a fleet. */
import { join } from 'node:path';
import { BenchError } from '../../errors/bench-error.js';
import { quoted } from '../../errors/usage-error.js';
import { plain } from '../../results/text/plain.js';
import { rangesText } from '../index-ranges.js';
import type { Scheduler, Sending } from '../scheduler.js';
import type { Submission } from '../submissions.js';
import { gpuNodes, nodeText } from './gpu-nodes.js';
import { jobName, MERGE_SCRIPT, TASK_SCRIPT } from './job-script.js';
import { askSlurm } from './program.js';
import { jobsOf } from './queue.js';

/**
 * A task for a named node is a job of its own, because an array has one list of nodes for all its tasks, and does not
 * promise that each runs on another one. Tasks for any node are one array.
 */
export const slurm: Scheduler = {
  merges: true,
  tasks: jobsOf,
  notMeasured: async (measured) => (await gpuNodes(undefined)).filter(({ name }) => !measured.has(name)).map(nodeText),
  async *send(folder, { id }, { tasks, notOn, alsoAfter, signal }) {
    const after = [...alsoAfter];
    const script = join(folder, TASK_SCRIPT);
    for (const { index, node } of tasks) {
      if (node === undefined) continue;
      signal.throwIfAborted();
      const job = await submitted([`--job-name=${jobName(id)}-${index}`, `--nodelist=${node}`, script, String(index)]);
      after.push(job);
      yield noted(job, [index]);
    }
    const anywhere = tasks.filter(({ node }) => node === undefined).map(({ index }) => index);
    if (anywhere.length > 0) {
      signal.throwIfAborted();
      const job = await submitted([`--array=${rangesText(anywhere)}`, ...elsewhere(notOn), script]);
      after.push(job);
      yield noted(job, anywhere);
    }
    signal.throwIfAborted();
    const dependency = after.length === 0 ? [] : [`--dependency=afterany:${after.join(':')}`];
    const merge = await submitted([...dependency, join(folder, MERGE_SCRIPT)]);
    yield noted(merge, []);
  },
};

const elsewhere = (notOn: Sending['notOn']): string[] => (notOn.length === 0 ? [] : [`--exclude=${notOn.join(',')}`]);

const noted = (job: string, indices: number[]): Submission => ({
  job,
  indices,
  submitted: new Date().toISOString(),
});

/** The id of the job. */
async function submitted(args: readonly string[]): Promise<string> {
  // Not NONE, as the script says for whoever sends it by hand: Slurm then runs the user's login shell on the node, which may
  // take longer than a job may take to start. Here the environment has only what is needed.
  const printed = await askSlurm('sbatch', ['--parsable', '--export=ALL', ...args]);
  // "ID" or "ID;CLUSTER"
  const [, job] = /^(\d+)(?:;.*)?$/.exec(printed.trim()) ?? [];
  if (job !== undefined) return job;
  throw new BenchError('SYSTEM', `sbatch printed ${quoted(plain(printed.trim()))} and no id of a job.`);
}
