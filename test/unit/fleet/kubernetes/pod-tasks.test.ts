/** How tasks are, from what the API says of Jobs and pods. */
import type { Job } from 'kubernetes-types/batch/v1.js';
import type { Pod } from 'kubernetes-types/core/v1.js';
import { describe, expect, it } from 'vitest';
import { tasksOf } from '../../../../lib/fleet/kubernetes/pod-tasks.js';

const job = (name: string, at: number, status: object, tasks?: string): Job => ({
  metadata: {
    name,
    creationTimestamp: `2026-01-01T00:00:0${at}Z`,
    ...(tasks !== undefined && { annotations: { 'gpu-virt-bench/tasks': tasks } }),
  },
  spec: { completions: 4, template: {} },
  status,
});

const pod = (of: string, place: number, status: object, at = 0): Pod => ({
  metadata: {
    name: `${of}-${place}-${at}`,
    creationTimestamp: `2026-01-01T00:01:0${at}Z`,
    labels: { 'batch.kubernetes.io/job-name': of },
    annotations: { 'batch.kubernetes.io/job-completion-index': String(place) },
  },
  spec: { containers: [], nodeName: `n${place}` },
  status,
});

const planned = new Set([0, 1, 2, 3]);
const seen = (jobs: Job[], pods: Pod[]) =>
  tasksOf(jobs, pods, planned).map(({ index, state, word, node }) => `${index} ${state} ${node}: ${word}`);
const exited = (exitCode: number) => ({
  phase: 'Failed',
  containerStatuses: [{ name: 'bench', state: { terminated: { exitCode, reason: 'Error' } } }],
});

describe('tasks of Jobs', () => {
  it('are as their pods are while the Job runs', () => {
    const waits = {
      phase: 'Pending',
      conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }],
    };
    const pods = [pod('j', 0, { phase: 'Running' }), pod('j', 1, waits), pod('j', 2, exited(1))];
    expect(seen([job('j', 0, {})], pods)).toEqual([
      '0 running n0: Running',
      '1 waiting n1: Unschedulable',
      '2 waiting n2: again after: the pod has ended (Error: exit code 1)',
      '3 waiting null: it has no pod yet',
    ]);
  });

  it('have ended where the Job says so of their index, with what the last pod says', () => {
    const status = { completedIndexes: '0', failedIndexes: '1-2' };
    const pods = [pod('j', 1, exited(1)), pod('j', 1, exited(5), 1), pod('j', 0, { phase: 'Succeeded' })];
    expect(seen([job('j', 0, status)], pods)).toEqual([
      '0 ended n0: Completed',
      '1 ended n1: the pod has ended (Error: exit code 5)',
      '2 ended null: its pod is gone',
      '3 waiting null: it has no pod yet',
    ]);
  });

  it('have ended with a Job that is over, for its reason', () => {
    const conditions = [{ type: 'Failed', status: 'True', reason: 'DeadlineExceeded' }];
    expect(seen([job('j', 0, { conditions })], [])).toEqual(
      [0, 1, 2, 3].map((index) => `${index} ended null: DeadlineExceeded`),
    );
  });

  it('are those of the annotation where a Job has not all, the oldest Job first', () => {
    const again = job('j-2', 1, {}, '1,3,7');
    const found = seen([again, job('j', 0, { completedIndexes: '0,2' })], [pod('j-2', 1, { phase: 'Running' })]);
    expect(found.slice(4)).toEqual(['1 waiting null: it has no pod yet', '3 running n1: Running']);
  });

  it('are none where the annotation is no list', () => {
    expect(seen([job('j', 0, {}, 'rm -rf')], [])).toEqual([]);
    expect(seen([job('j', 0, {}, '0-999999999')], [])).toEqual([]);
  });
});
