/** The manifest of a fleet: as it is written, whether the API takes it, and what hostile names make of it. */
import fc from 'fast-check';
import { Job } from 'kubernetes-models/batch/v1/Job';
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { UsageError } from '../../../../lib/errors/usage-error.js';
import { checked, type ClusterSettings, indexedJob, planMap } from '../../../../lib/fleet/kubernetes/job-manifest.js';
import { resentJob } from '../../../../lib/fleet/kubernetes/resent-job.js';
import type { FleetPlan } from '../../../../lib/fleet/plan.js';

const plan: FleetPlan = {
  kind: 'fleet-plan',
  schemaVersion: 1,
  tool: { name: 'gpu-virt-bench', version: '0.1.0' },
  id: '2026-01-01-0123abcd',
  created: '2026-01-01T00:00:00.000Z',
  scheduler: 'kubernetes',
  tasks: [{ index: 0 }, { index: 1 }],
  command: 'run',
  arguments: ['OH-001', '--tier', 'quick'],
};

const settings: ClusterSettings = {
  namespace: undefined,
  image: 'localhost/gpu-virt-bench:0.1.0',
  tool: ['gpu-virt-bench'],
  gpu: { resource: 'nvidia.com/gpu', count: 1 },
  cpu: 4,
  memory: '16Gi',
  nodes: [],
  nodeSelector: {},
  tolerations: [],
  runtimeClass: undefined,
  environment: {},
  secrets: [],
  claim: null,
  seconds: 7_200,
};

const everything: ClusterSettings = {
  ...settings,
  namespace: 'bench',
  nodes: ['gpu-1', 'gpu-2'],
  nodeSelector: { 'nvidia.com/gpu.product': 'NVIDIA-H100-80GB-HBM3' },
  tolerations: [{ key: 'nvidia.com/gpu', operator: 'Exists', effect: 'NoSchedule' }],
  runtimeClass: 'nvidia',
  environment: { HF_HOME: '/data/$(HOME)' },
  secrets: [{ variable: 'HF_TOKEN', secret: 'hub', key: 'token' }],
  claim: 'fleet',
};

const manifest = (given: ClusterSettings) =>
  [planMap(plan, given), indexedJob(plan, given)]
    .map((each) => stringify(each, { aliasDuplicateObjects: false }))
    .join('---\n');

/** Throws what the API would say. */
function validate(given: ClusterSettings): void {
  new ConfigMap(planMap(plan, given) as never).validate();
  new Job(indexedJob(plan, given) as never).validate();
}

describe('the manifest of a fleet', () => {
  it.each([
    ['logs', settings],
    ['volume', everything],
  ])('%s', async (name, given) => {
    expect(() => validate(given)).not.toThrow();
    await expect(manifest(given)).toMatchFileSnapshot(`../../../golden/kubernetes-${name}.yaml`);
  });

  it.each([
    ['resent', settings],
    ['resent-nodes', everything],
  ])('for tasks that are sent again: %s', async (name, given) => {
    const first = indexedJob(plan, given);
    const manifestOf = { text: '', job: first, others: [], namespace: given.namespace, hasVolume: false };
    const job = resentJob(manifestOf, { number: 3, indices: [1, 3, 4, 5, 9], notOn: ['n1', 'n2'] });
    expect(() => new Job(job as never).validate()).not.toThrow();
    const text = stringify(job, { aliasDuplicateObjects: false });
    await expect(text).toMatchFileSnapshot(`../../../golden/kubernetes-${name}.yaml`);
  });

  it('is checked by a schema that finds errors', () => {
    const job = indexedJob(plan, settings);
    const wrong = { ...job, spec: { ...job.spec, backoffLimitPerIndex: 'one' } };
    expect(() => new Job(wrong as never).validate()).toThrow('backoffLimitPerIndex');
  });

  it('is Guaranteed: requests are limits', () => {
    const [container] = indexedJob(plan, everything).spec?.template.spec?.containers ?? [];
    expect(container?.resources?.requests).toEqual(container?.resources?.limits);
  });

  it('puts no value of a variable where Kubernetes would replace it', () => {
    const text = fc.oneof(fc.string(), fc.constantFrom('$(HOME)', '$$(HOME)', '$', 'a: b\n- c', '"\'', '\u2028{{'));
    fc.assert(
      fc.property(text, (value) => {
        const given = { ...settings, environment: { VALUE: value } };
        const read = parse(stringify(indexedJob(plan, given), { aliasDuplicateObjects: false })) as ReturnType<
          typeof indexedJob
        >;
        const written = read.spec?.template.spec?.containers[0]?.env?.find(({ name }) => name === 'VALUE')?.value ?? '';
        // What the kubelet makes of it: pairs of dollars become one.
        expect(written.replaceAll('$$', '$')).toBe(value);
        expect(written).not.toMatch(/(^|[^$])(\$\$)*\$\(/);
      }),
    );
  });

  it('refuses a plan that is too large for a ConfigMap', () => {
    const long = { ...plan, arguments: Array.from({ length: 20 }, () => 'x'.repeat(60_000)) };
    expect(() => planMap(long, settings)).toThrow(UsageError);
  });
});

describe('names from outside', () => {
  it.each(['-h', '--image', 'a b', 'a\nb', '$(x)', '', 'a;b', '../x', 'ä', 'a"b', '{{x}}'])(
    'are refused where they are %j',
    (name) => {
      for (const kind of ['label', 'subdomain', 'qualified', 'image', 'variable'] as const)
        expect(() => checked(kind, name, 'a name')).toThrow(UsageError);
    },
  );

  it('that are taken give a manifest that the API takes', () => {
    const kinds = { image: 'image', namespace: 'label', runtimeClass: 'subdomain', claim: 'subdomain' } as const;
    const characters = fc.string({ unit: fc.constantFrom(...'abcXYZ019-._/:@ $(){}"\'\n'), maxLength: 70 });
    let taken = 0;
    fc.assert(
      fc.property(fc.constantFrom(...(Object.keys(kinds) as (keyof typeof kinds)[])), characters, (setting, name) => {
        try {
          checked(kinds[setting], name, 'a name');
        } catch (error) {
          expect(error).toBeInstanceOf(UsageError);
          return;
        }
        taken++;
        const given = { ...settings, [setting]: name };
        expect(() => validate(given)).not.toThrow();
        expect(name).not.toMatch(/^-|[\s$(){}"']/);
      }),
      { numRuns: 500 },
    );
    expect(taken).toBeGreaterThan(5);
  });
});
