/** How the tasks of a plan are, from its Jobs and their pods. */
import type { Job } from 'kubernetes-types/batch/v1.js';
import type { Pod } from 'kubernetes-types/core/v1.js';
import { whyOver, whyWaiting } from '../../systems/kinds/pod/pod-state.js';
import { indicesIn } from '../index-ranges.js';
import type { ScheduledTask } from '../scheduler.js';
import { CONTAINER } from './job-manifest.js';
import { TASKS } from './resent-job.js';

const JOB_LABEL = 'batch.kubernetes.io/job-name';
const INDEX_ANNOTATION = 'batch.kubernetes.io/job-completion-index';

const createdOf = ({ metadata }: Job | Pod): string => String(metadata?.creationTimestamp ?? '');
const oldestFirst = (a: Job | Pod, b: Job | Pod): number => createdOf(a).localeCompare(createdOf(b));

/** Oldest first. Only tasks of the plan count, whatever an annotation says. */
export function tasksOf(jobs: readonly Job[], pods: readonly Pod[], planned: ReadonlySet<number>): ScheduledTask[] {
  const sorted = [...pods].sort(oldestFirst);
  return [...jobs].sort(oldestFirst).flatMap((job) => {
    const name = job.metadata?.name ?? '';
    const own = new Map<number, Pod>();
    for (const pod of sorted)
      if (pod.metadata?.labels?.[JOB_LABEL] === name)
        own.set(Number(pod.metadata.annotations?.[INDEX_ANNOTATION]), pod);
    const state = stateOf(job);
    return indicesOf(job).flatMap((index, place) =>
      planned.has(index) ? [taskOf(index, { job: name, pod: own.get(place), ...howIs(state, place) })] : [],
    );
  });
}

/** The tasks of a Job by their completion index. */
function indicesOf({ metadata, spec }: Job): number[] {
  const named = metadata?.annotations?.[TASKS];
  if (named !== undefined) return indicesIn(named) ?? [];
  return Array.from({ length: spec?.completions ?? 0 }, (_, index) => index);
}

interface JobState {
  /** Why the whole Job is over; null if it is not. */
  over: string | null;
  completed: ReadonlySet<number>;
  failed: ReadonlySet<number>;
}

function stateOf({ status = {} }: Job): JobState {
  const { failedIndexes } = status as { failedIndexes?: string };
  const end = status.conditions?.find(({ type, status: is }) => ['Complete', 'Failed'].includes(type) && is === 'True');
  return {
    over: end === undefined ? null : (end.reason ?? end.type),
    completed: new Set(indicesIn(status.completedIndexes ?? '')),
    failed: new Set(indicesIn(failedIndexes ?? '')),
  };
}

const howIs = ({ over, completed, failed }: JobState, place: number) => ({
  isCompleted: completed.has(place),
  isOver: over !== null || completed.has(place) || failed.has(place),
  why: over,
});

interface Known extends ReturnType<typeof howIs> {
  job: string;
  pod: Pod | undefined;
}

function taskOf(index: number, { job, pod, isCompleted, isOver, why }: Known): ScheduledTask {
  const task = { index, job: pod?.metadata?.name ?? job, node: pod?.spec?.nodeName ?? null };
  const phase = pod?.status?.phase;
  if (isCompleted || phase === 'Succeeded') return { ...task, state: 'ended', word: COMPLETED };
  const failure = pod === undefined ? null : whyOver(pod, CONTAINER);
  if (isOver) return { ...task, state: 'ended', word: failure ?? why ?? 'its pod is gone' };
  if (phase === 'Running' && failure === null) return { ...task, state: 'running', word: phase };
  if (pod === undefined) return { ...task, state: 'waiting', word: 'it has no pod yet' };
  return { ...task, state: 'waiting', word: failure === null ? whyWaiting(pod, CONTAINER) : `again after: ${failure}` };
}

/** The word for a task whose pod ended with 0, and so has delivered. */
export const COMPLETED = 'Completed';
