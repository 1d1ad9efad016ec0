/** Pods as users write them: what is refused, what is replaced, and what is understood of them. */
import fc from 'fast-check';
import { Pod } from 'kubernetes-models/v1/Pod';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { Place } from '../../../lib/config/setting-place.js';
import { bytesOf, limitsIn } from '../../../lib/systems/kinds/pod/adopted-limits.js';
import { whyOver, whyWaiting } from '../../../lib/systems/kinds/pod/pod-state.js';
import { limitsGiven } from '../../../lib/systems/kinds/pod/pod-proofs.js';
import { askedFor, podOf, readTemplate } from '../../../lib/systems/kinds/pod/pod-template.js';
import { temporaryFolder } from '../../temporary.js';

const folder = temporaryFolder('pods');
let count = 0;

function read(value: unknown, container?: string) {
  const file = join(folder, `${count++}.yaml`);
  writeFileSync(file, typeof value === 'string' ? value : stringify(value));
  return readTemplate(file, { place: new Place({ template: file }, 'pod'), key: 'template', folder, container });
}

const simple = (change: object = {}, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  spec: { containers: [{ name: 'bench', image: 'there', ...change }], ...spec },
});

const wanted = { name: 'gvb-1', runId: '1', owner: { pid: 7 }, deadlineSeconds: 60, node: '/node', nodeName: null };

describe('a template', () => {
  it.each([
    ['text', 'it is no map'],
    [{ apiVersion: 'apps/v1', kind: 'Deployment' }, "it is 'Deployment'"],
    [{ apiVersion: 'v1', kind: 'Pod' }, 'it has no spec'],
    [simple({}, { containers: [] }), 'no list of containers'],
    [simple({ name: '--help' }), 'a container needs a name'],
    [simple({ image: 7 }), 'container bench has no image'],
    [{ ...simple(), metadata: { finalizers: ['a/b'] } }, 'finalizers would keep it from being deleted'],
    [{ ...simple(), metadata: { namespace: '--all-namespaces' } }, 'is not the name of a namespace'],
    [{ ...simple(), metadata: { labels: { a: 1 } } }, "'a' of metadata.labels is no text"],
    ['a: &a [*a]', "the alias 'a' contains itself"],
    ['apiVersion: v1\n---\nkind: Pod', 'a second document begins here'],
  ])('is refused where it is %j', (value, why) => {
    expect(() => read(value)).toThrow(why);
  });

  it('keeps all but what our command replaces', () => {
    const env = [{ name: 'TOKEN', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }];
    const given = simple(
      {
        command: ['sh'],
        args: ['-c', 'x'],
        livenessProbe: { exec: { command: ['false'] } },
        env,
      },
      {
        restartPolicy: 'Always',
        activeDeadlineSeconds: 30,
        runtimeClassName: 'nvidia',
        tolerations: [{ operator: 'Exists' }],
      },
    );
    const { containers, ...spec } = podOf(read(given), wanted).spec ?? {};
    expect(spec).toEqual({
      restartPolicy: 'Never',
      activeDeadlineSeconds: 30,
      runtimeClassName: 'nvidia',
      tolerations: [{ operator: 'Exists' }],
    });
    expect(containers).toEqual([
      {
        name: 'bench',
        image: 'there',
        env,
        command: ['/node', '-e', expect.any(String)],
      },
    ]);
  });

  it('leaves other containers alone', () => {
    const sidecar = { name: 'sidecar', image: 'other', args: ['serve'] };
    const given = simple({}, { containers: [sidecar, { name: 'bench', image: 'there' }] });
    const template = read(given, 'bench');
    expect(podOf(template, wanted).spec?.containers[0]).toEqual(sidecar);
    expect(() => read(given, 'none')).toThrow(
      "Expected container of pod to be one of sidecar, bench but received 'none'",
    );
  });

  it('is bound to a node in each of its own terms', () => {
    const zone = { key: 'zone', operator: 'In', values: ['a'] };
    const required = { nodeSelectorTerms: [{ matchExpressions: [zone] }, { matchFields: [] }] };
    const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
    const pod = podOf(read(simple({}, { affinity })), { ...wanted, nodeName: 'node-1' });
    const field = { key: 'metadata.name', operator: 'In', values: ['node-1'] };
    expect(pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms).toEqual(
      [{ matchExpressions: [zone], matchFields: [field] }, { matchFields: [field] }],
    );
  });

  it('gives a pod that the API takes, whatever else is in it', () => {
    const text = fc.string({ maxLength: 40 });
    fc.assert(
      fc.property(
        fc.dictionary(text, text, { maxKeys: 4 }),
        fc.array(fc.tuple(text, text), { maxLength: 4 }),
        (annotations, env) => {
          const given = {
            ...simple({ env: env.map(([name, value]) => ({ name, value })) }),
            metadata: { annotations },
          };
          const pod = podOf(read(given), wanted);
          expect(() => new Pod(pod as never).validate()).not.toThrow();
          expect(pod.metadata?.annotations).toMatchObject(annotations);
          expect(pod.metadata?.name).toBe('gvb-1');
        },
      ),
      { numRuns: 50 },
    );
  });

  it.each([
    [simple({ resources: { limits: { 'nvidia.com/gpu': 1 } } }), 'whole'],
    [simple({ resources: { limits: { 'nvidia.com/gpu': 1, 'nvidia.com/gpumem': 4096 } } }), 'layer'],
    [simple({ resources: { limits: { 'nvidia.com/mig-1g.10gb': 1 } } }), 'mig'],
    [simple({ env: [{ name: 'CUDA_MPS_PIPE_DIRECTORY', value: '/mps' }] }), 'mps'],
    [{ ...simple(), metadata: { annotations: { 'gpu-fraction': '0.5' } } }, 'layer'],
  ] as const)('asks for what its resources and annotations say', (value, mechanism) => {
    expect(askedFor(read(value)).mechanism).toBe(mechanism);
  });

  const limited = (limits: Record<string, number>) =>
    simple({ resources: { limits: { 'nvidia.com/gpu': 1, ...limits } } });
  it.each([
    [limited({ 'nvidia.com/gpumem': 4096 }), undefined, ['memory']],
    [limited({ 'nvidia.com/gpumem-percentage': 50, 'nvidia.com/gpucores': 50 }), undefined, ['memory', 'SM']],
    [limited({ 'nvidia.com/gpucores': 100 }), undefined, []],
    [limited({ 'volcano.sh/vgpu-memory': 4096, 'volcano.sh/vgpu-cores': 30 }), undefined, ['memory', 'SM']],
    [{ ...simple(), metadata: { annotations: { 'gpu-fraction': '0.5' } } }, undefined, ['memory']],
    [{ ...simple(), metadata: { annotations: { 'gpu-fraction': '0.5' } } }, 'whole', []],
    [simple(), 'layer', []],
  ] as const)('asks for the limits that a layer has to be told', (value, under, limits) => {
    expect(askedFor(read(value), under).limits).toEqual(limits);
  });
});

describe('a layer that is there', () => {
  const asked = { mechanism: 'layer', because: 'annotation gpu-fraction', limits: ['memory', 'SM'] } as const;
  const adopted = { mechanism: 'layer', library: '/l.so', injected: {} } as const;

  it('fails its proof where it was not told a limit that the template asks for', () => {
    const [finding] = limitsGiven(asked, { ...adopted, memoryBytes: null, smPercent: 50 });
    expect(finding).toMatchObject({
      passed: false,
      detail:
        'memory and SM asked for (annotation gpu-fraction), no limit of memory is in the environment of the container',
    });
  });

  it('passes where it was told each, and needs none where none is asked for', () => {
    expect(limitsGiven(asked, { ...adopted, memoryBytes: 1, smPercent: 50 })).toMatchObject([{ passed: true }]);
    expect(limitsGiven({ ...asked, limits: [] }, { ...adopted, memoryBytes: null, smPercent: null })).toEqual([]);
  });
});

describe('limits that were injected', () => {
  it('are read as the layers read them', () => {
    expect(['2027m', '3g', '4G', '1073741824', '0', '', '12x', '-1m'].map(bytesOf)).toEqual([
      2027 * 2 ** 20,
      3 * 2 ** 30,
      4 * 2 ** 30,
      2 ** 30,
      null,
      null,
      null,
      null,
    ]);
    expect(
      limitsIn({ CUDA_DEVICE_MEMORY_LIMIT_0: '100m', CUDA_DEVICE_MEMORY_LIMIT: '7m', CUDA_DEVICE_SM_LIMIT: '30' }),
    ).toEqual({
      memoryBytes: 100 * 2 ** 20,
      smPercent: 30,
    });
    expect(
      limitsIn({ CUDA_MPS_PINNED_DEVICE_MEM_LIMIT: '0=2G,1=3G', CUDA_MPS_ACTIVE_THREAD_PERCENTAGE: '100' }),
    ).toEqual({
      memoryBytes: 2 ** 31,
      smPercent: null,
    });
  });
});

describe('the state of a pod', () => {
  const pod = (status: object) => ({ status }) as Parameters<typeof whyOver>[0];
  const waiting = (reason: string) =>
    pod({ phase: 'Pending', containerStatuses: [{ name: 'bench', state: { waiting: { reason } } }] });

  it('is no end while waiting may help', () => {
    expect(
      ['ContainerCreating', 'ErrImagePull', 'PodInitializing'].map((reason) => whyOver(waiting(reason), 'bench')),
    ).toEqual([null, null, null]);
    expect(whyOver(waiting('CreateContainerConfigError'), 'bench')).toContain('CreateContainerConfigError');
  });

  it('says what the scheduler said', () => {
    const message = '0/3 nodes are available: 3 Insufficient nvidia.com/gpu.';
    const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message };
    expect(whyWaiting(pod({ phase: 'Pending', conditions: [condition] }), 'bench')).toBe(
      `Unschedulable: ${message.slice(0, -1)}. Other pods hold what it asks for: free a GPU, or ask for less.`,
    );
  });
});
