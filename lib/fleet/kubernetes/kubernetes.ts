/** Kubernetes as the scheduler of a fleet, through the user's kubectl. */
import type { Job } from 'kubernetes-types/batch/v1.js';
import type { Node, Pod } from 'kubernetes-types/core/v1.js';
import { UsageError } from '../../errors/usage-error.js';
import type { Kubectl } from '../../systems/kinds/pod/kubectl.js';
import type { FleetPlan } from '../plan.js';
import type { ScheduledTask, Scheduler } from '../scheduler.js';
import type { Submission } from '../submissions.js';
import { CONTAINER, jobName, planSelector } from './job-manifest.js';
import { COMPLETED, tasksOf } from './pod-tasks.js';
import { type Manifest, resentJob } from './resent-job.js';

/** How many logs are fetched at a time. */
const AT_ONCE = 8;

export function kubernetes(kubectl: Kubectl, plan: FleetPlan, manifest: Manifest): Scheduler {
  const selector = planSelector(plan);
  const planned = new Set(plan.tasks.map(({ index }) => index));
  const jobsOf = () => kubectl.list<Job>('jobs', selector);
  const scheduler: Scheduler = {
    merges: false,
    async notMeasured(measured) {
      const nodes = await kubectl.list<Node>('nodes');
      const names = nodes.filter((node) => hasGpu(node, manifest)).map(({ metadata }) => metadata?.name ?? '');
      return names.filter((name) => !measured.has(name));
    },
    async tasks() {
      const [jobs, pods] = await Promise.all([jobsOf(), kubectl.list<Pod>('pods', selector)]);
      return tasksOf(jobs, pods, planned);
    },
    async *send(_folder, _plan, { tasks, notOn, signal }) {
      const indices = tasks.map(({ index }) => index);
      if (indices.length === 0) return;
      const jobs = await jobsOf();
      if (manifest.hasVolume) checkNoneCompleted(await scheduler.tasks(plan, []), new Set(indices));
      signal.throwIfAborted();
      if (jobs.length === 0 && indices.length === plan.tasks.length) {
        await kubectl.apply(manifest.text);
        return yield noted(jobName(plan), indices);
      }
      const job = resentJob(manifest, { number: nextNumber(plan, jobs), indices, notOn });
      // Somebody may have deleted them since, and no pod starts without its ConfigMap.
      const items = [...manifest.others, job];
      await kubectl.apply(`${JSON.stringify({ apiVersion: 'v1', kind: 'List', items })}\n`);
      yield noted(job.metadata?.name ?? '', indices);
    },
  };
  return manifest.hasVolume ? scheduler : { ...scheduler, logs: (tasks) => logsOf(kubectl, tasks) };
}

const noted = (job: string, indices: number[]): Submission => ({ job, indices, submitted: new Date().toISOString() });

/** Jobs that are sent again are named NAME-2, NAME-3, … */
function nextNumber(plan: FleetPlan, jobs: readonly Job[]): number {
  const base = `${jobName(plan)}-`;
  const names = jobs.map(({ metadata }) => metadata?.name ?? '').filter((name) => name.startsWith(base));
  const numbers = names.map((name) => Number(name.slice(base.length))).filter(Number.isSafeInteger);
  return 1 + Math.max(1, ...numbers);
}

/** A task that has delivered to a volume which is not this folder would be measured again. Throws UsageError. */
function checkNoneCompleted(scheduled: readonly ScheduledTask[], sent: ReadonlySet<number>): void {
  const completed = scheduled.find(({ index, word }) => word === COMPLETED && index !== null && sent.has(index));
  if (completed === undefined) return;
  throw new UsageError(
    `Expected the deliveries of the volume in the folder of the fleet but task ${completed.index} has delivered and is not there: copy deliveries/ from the volume.`,
  );
}

/** Whether pods of the manifest could get a GPU there. */
function hasGpu({ status }: Node, { job }: Manifest): boolean {
  const container = job.spec?.template.spec?.containers.find(({ name }) => name === CONTAINER);
  const resources = Object.keys(container?.resources?.limits ?? {}).filter((name) => name.includes('/'));
  return resources.some((name) => Number(status?.allocatable?.[name] ?? 0) > 0);
}

/** A pod that is gone has no log any more, which its task shows: it stays without a delivery. */
async function* logsOf(kubectl: Kubectl, tasks: readonly ScheduledTask[]): AsyncGenerator<string> {
  for (let at = 0; at < tasks.length; at += AT_ONCE) {
    const some = tasks.slice(at, at + AT_ONCE).map(({ job }) => kubectl.log(job, CONTAINER));
    for (const text of await Promise.all(some)) yield* text?.split('\n') ?? [];
  }
}
