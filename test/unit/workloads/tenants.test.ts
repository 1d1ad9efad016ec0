/** Scenes as a file describes them, and what their tenants are limited to under a system. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { execWorkloads } from '../../../lib/exec-workloads.js';
import { parseThresholds } from '../../../lib/gate/thresholds-file.js';
import { MENU } from '../../../lib/metrics/isolation/shared/aggressor-menu.js';
import { NO_LIMITS, type Limits, type System, type Tenant } from '../../../lib/systems/system.js';
import { metricsOf } from '../../../lib/workloads/metrics/metrics-of.js';
import { taskName } from '../../../lib/workloads/settings/task-names.js';
import { parseExecConfig } from '../../../lib/workloads/settings/exec-config.js';
import { publicSource } from '../../../lib/workloads/settings/read-workloads.js';
import type { Scene } from '../../../lib/workloads/scene/scene-type.js';
import { limitedTenants } from '../../../lib/workloads/scene/tenant-limits.js';
import { recordOf } from '../../../lib/workloads/settings/workload-record.js';

const surroundings = { caller: { PATH: '/usr/bin' }, folder: '/work' };
const read = (text: string) => parseExecConfig(text, 'w.yaml', surroundings);
const scene = (tenants: string, keys = '') =>
  read(`workloads:\n  - name: s\n    tenants: [${tenants}]\n${keys}`).workloads[0] as Scene;
function refusal(tenants: string, keys = ''): string {
  try {
    scene(tenants, keys);
  } catch (error) {
    return (error as Error).message;
  }
  return 'accepted';
}
const victim = '{ name: v, argv: [p] }';
const trainer = '{ name: t, role: aggressor, argv: [q] }';
const idsOf = (workload: Scene): string[] =>
  metricsOf(workload, { caller: {}, logsOf: null, keepGoing: false }).map(({ id }) => id);

describe('a scene', () => {
  it('has tenants that are programs or items of the menu, with what they share', () => {
    const { tenants, ...own } = scene(
      `{ name: v, argv: [p], folder: sub, env: { B: '3' }, passEnv: [C], limits: { memory: 10GiB, sm: '50' }, stopAfter: 1, ready: { line: up } },
       { name: t, role: aggressor, argv: [q, "{n}"], ready: { port: '80' } }, { task: dram-stream, limits: { memory: 50% } }`,
      '    folder: base\n    env: { A: "1", B: "2" }\n    passEnv: [D]\n    warmup: 1\n    iterations: 2\n    timeout: 9\n    setup: [make]\n    matrix: { n: [4] }\n',
    );
    expect(own).toMatchObject({ name: 's@n=4', setup: [['make']], warmup: 1, iterations: 2, cwd: '/work/base' });
    const shared = { warmup: 1, iterations: 2, timeoutSeconds: 9, setup: [], teardown: [] };
    expect(tenants).toMatchObject([
      {
        ...{ name: 'v', role: 'victim', limits: { memory: { bytes: 10 * 2 ** 30 }, smPercent: 50 } },
        program: { ...shared, argv: ['p'], cwd: '/work/base/sub', env: { A: '1', B: '3' }, passEnv: ['D', 'C'] },
      },
      { name: 't', role: 'aggressor', limits: {}, program: { ...shared, argv: ['q', '4'], cwd: '/work/base' } },
      { name: 'dram-stream', role: 'aggressor', task: 'dramStream', limits: { memory: { percent: 50 } } },
    ]);
  });

  it('has the program of the workload itself as a victim', () => {
    const { workloads } = read(
      'workloads: [{ name: s, argv: [p], limits: { sm: "30" }, metrics: { m: { json: /a, unit: s, direction: lower } }, tenants: [{ task: l2-thrash }] }]',
    );
    expect((workloads[0] as Scene).tenants).toMatchObject([
      { name: 'victim', role: 'victim', limits: { smPercent: 30 }, program: { argv: ['p'], metrics: [{ key: 'm' }] } },
      { name: 'l2-thrash' },
    ]);
  });

  it('has a task of every item of a matrix', () => {
    const { workloads } = read(
      'workloads: [{ name: s, argv: [p], matrix: { beside: [tlb-thrash, copy-to-host] }, tenants: [{ name: n, task: "{beside}" }] }]',
    );
    expect(workloads.map(({ name }) => name)).toEqual(['s@beside=tlb-thrash', 's@beside=copy-to-host']);
    expect(workloads.map((each) => (each as Scene).tenants[1])).toMatchObject([
      { task: 'tlbThrash' },
      { task: 'copyToHost' },
    ]);
  });

  it('has metrics of each victim beside the others, alone, and their ratio', () => {
    const own = scene(
      `{ name: v, argv: [p], metrics: { tps: { json: /t, unit: t/s, direction: higher }, loss: { json: /l, unit: x, direction: none } } }, ${trainer}`,
    );
    expect(idsOf(own)).toEqual([
      ...['s/v/wall', 's/v/wall/alone', 's/v/wall/slowdown', 's/v/cpu', 's/v/host-memory', 's/v/gpu-memory'],
      ...['s/v/tps', 's/v/tps/alone', 's/v/tps/slowdown', 's/v/loss'],
    ]);
    const server = '{ name: v, argv: [p], ready: { line: up }, stopAfter: "1" }';
    expect(idsOf(scene(`${server}, ${trainer}`))).toContain('s/v/ready/slowdown');
    const load =
      'load: { api: completions, url: "http://127.0.0.1:1/v1/completions", model: m, prompt: hi, maxTokens: "4", requests: "8", concurrency: "1" }';
    const served = idsOf(scene(`{ name: v, argv: [p], ready: { line: up }, ${load} }, ${trainer}`));
    expect(served).toEqual(expect.arrayContaining(['s/v/ttft/slowdown', 's/v/tokens-per-second/alone', 's/v/errors']));
    expect(served).not.toContain('s/v/errors/slowdown');
  });

  it.each([
    [`${victim}, ${trainer}`, []],
    [`${victim}, { name: w, argv: [q] }`, ['s/fairness', 's/interference']],
    [`${victim}, { name: w, argv: [q] }, ${trainer}`, ['s/fairness']],
  ])('%s says of all together: %j', (tenants, ids) =>
    expect(idsOf(scene(tenants)).filter((id) => id.split('/').length === 2)).toEqual(ids),
  );

  it('has thresholds for its ratios', () => {
    const definitions = metricsOf(scene(`${victim}, ${trainer}`), { caller: {}, logsOf: null, keepGoing: false });
    const { metrics } = parseThresholds('metrics: { "*/*/*/slowdown": { limit: 1.5 } }', 't.yaml', definitions);
    const limited = [...metrics].flatMap(([id, { limit }]) => (limit === null ? [] : [[id, limit]]));
    expect(limited).toEqual([['s/v/wall/slowdown', 1.5]]);
  });

  it('keeps no secret of its tenants for others to read, and is not run without it', () => {
    const { sources } = read(
      'workloads: [{ name: s, tenants: [{ name: v, argv: [p], env: { MY_TOKEN: abc } }, { task: l2-thrash }] }]',
    );
    const kept = publicSource(sources[0] as (typeof sources)[number]);
    expect(JSON.stringify(kept)).not.toContain('abc');
    expect(() => read(JSON.stringify({ workloads: [kept.settings] }))).toThrow(
      'tenants.env.MY_TOKEN is (not recorded): results do not store secrets. Give its value, or name it in passEnv.',
    );
  });

  it('is another one where a tenant is another', async () => {
    const hashes = await Promise.all(
      [trainer, '{ name: t, role: aggressor, argv: [q, x] }', '{ name: t, task: tlb-thrash }'].map(
        async (other) => (await recordOf(scene(`${victim}, ${other}`), {})).sha256,
      ),
    );
    expect(new Set(hashes).size).toBe(3);
  });
});

describe('scenes that users copy', () => {
  const file = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

  it('are read from docs/exec.md', () => {
    const blocks = [...file('docs/exec.md').matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, yaml = '']) => yaml);
    const { workloads } = read(blocks.find((yaml) => yaml.includes('tenants:')) ?? '');
    expect(workloads.map(({ name }) => name)).toEqual([
      'decode-beside-training',
      ...['long-kernels', 'dram-stream', 'launch-storm'].map((name) => `decode@neighbour=${name}`),
    ]);
    for (const id of ['wall/slowdown', 'tokens-per-second/alone'])
      expect(idsOf(workloads[0] as Scene)).toContain(`decode-beside-training/decode/${id}`);
  });

  it('name every item of the menu there', () => {
    const page = file('docs/exec.md').replaceAll('\n', ' ');
    for (const { kind } of MENU) expect(page).toContain(`\`${taskName(kind)}\``);
  });

  it('are read from the examples', () => {
    const { workloads } = read(file('examples/scenes.yaml'));
    expect(workloads.map((each) => (each as Scene).tenants.length)).toEqual([2, 2, 2, 2, 2]);
  });
});

describe('a scene is refused', () => {
  it.each([
    ['', 'Expected tenants of s to be a list of tenants but received an empty list.'],
    [victim, 'Expected s to have 2 to 16 tenants but received 1.'],
    [trainer.concat(', { task: l2-thrash }'), 'Expected a tenant of s to have role: victim'],
    [`${victim}, p`, 'to be a list of maps but received a list: entry 2 is none.'],
    [`${victim}, { role: aggressor, argv: [q] }`, 'Expected tenant 2 of s to have name, with which its results begin.'],
    [`${victim}, { name: V, argv: [q] }`, "Expected tenants of s of different names but received 'V' twice."],
    [`${victim}, { name: a.b, argv: [q] }`, 'Expected name of tenant 2 of s to be at most 40 letters, digits and _ -'],
    [`${victim}, { name: t }`, 'Expected t of s to have argv, the program and its arguments as a list.'],
    [`${victim}, { name: t, role: bystander, argv: [q] }`, 'Expected role of t of s to be victim or aggressor'],
    [
      `${victim}, { task: bandwith }`,
      "Expected task of tenant 2 of s to be long-kernels, block-fill, dram-stream, l2-thrash, tlb-thrash, issue-slots, copy-to-device, copy-to-host, launch-storm, alloc-storm, context-storm or graph-storm but received 'bandwith'",
    ],
    [`${victim}, { task: l2-thrash, argv: [q] }`, 'Expected argv or task of tenant 2 of s but received both'],
    [`${victim}, { task: l2-thrash, role: victim }`, 'a task of the menu is not measured.'],
    [`${victim}, { task: l2-thrash, env: {} }`, 'Expected env or task of tenant 2 of s but received both'],
    [`${victim}, { name: t, argv: [q], timeout: '3' }`, "but received 'timeout': it has name, role, task, limits"],
    [
      `${victim}, { name: t, role: aggressor, argv: [q], metrics: { m: { json: /a, unit: s, direction: lower } } }`,
      'Expected metrics of t of s to be of a victim but received it of an aggressor',
    ],
    [
      `${victim}, { task: l2-thrash, limits: { sm: '0' } }`,
      'Expected sm of limits of tenant 2 of s to be an integer from 1',
    ],
    [`${victim}, { task: l2-thrash, limits: { memory: 5G } }`, 'write 5GiB (binary) or 5GB (decimal)'],
    [`${victim}, { name: t, argv: [q], env: { LD_PRELOAD: x } }`, 'LD_PRELOAD is set by it'],
  ])('with the tenants %s', (tenants, message) => expect(refusal(tenants)).toContain(message));

  it('at the line of the tenant', () =>
    expect(refusal(`${victim},\n      { name: t, argv: [q], exit: '256' }`)).toMatch(
      /^w\.yaml:4:35: Expected exit of t of s/,
    ));

  it('with what belongs to a program, and none of its own', () => {
    expect(refusal(`${victim}, ${trainer}`, '    metrics: { m: { json: /a, unit: s, direction: lower } }\n')).toContain(
      'Expected metrics of s together with argv but received tenants alone: write it in the tenant that it is of.',
    );
    expect(() => read('workloads: [{ name: w, argv: [p], limits: { sm: "50" } }]')).toThrow(
      'Expected limits of w together with tenants but received them alone: give them to the system.',
    );
  });

  it('from a program, too', async () => {
    const missing = { name: 's', tenants: [{ name: 'v', argv: ['/no/such'] }, { task: 'l2-thrash' as const }] };
    await expect(execWorkloads({ workloads: [missing], simulate: true })).rejects.toThrow(
      "Expected s/v to be a program that can be started but received '/no/such': there is no such file.",
    );
    const prepared = { name: 'w', argv: ['true'], setup: ['/no/such'] };
    await expect(execWorkloads({ workloads: [prepared], simulate: true })).rejects.toThrow(
      "Expected setup of w to be a program that can be started but received '/no/such': there is no such file.",
    );
  });
});

describe('limits of tenants', () => {
  const GIB = 2 ** 30;
  const own: Limits = { memoryBytes: 20 * GIB, smPercent: 60 };
  const system = (change: Partial<System> = {}): System =>
    ({
      ...{ name: 'mine', limitsCoexist: true },
      capabilities: { ...NO_LIMITS, memLimit: 'perProcess', computeLimit: 'smCap' },
      limits: (tenant?: Tenant) => ({ ...own, ...tenant?.limits }),
      ...change,
    }) as unknown as System;
  const two = (first: string, second = '') =>
    scene(`{ name: v, argv: [p], limits: {${first}} }, { task: l2-thrash, limits: {${second}} }`);
  const limitsOf = (of: Scene, under = system(), cardBytes: number | null = 100 * GIB) =>
    limitedTenants(of, under, cardBytes);

  it('go before those of the system, one by one', () => {
    expect(limitsOf(two('memory: 10%', "sm: '30'"))).toEqual({
      tenants: [
        { id: 1, limits: { memoryBytes: 10 * GIB } },
        { id: 2, limits: { smPercent: 30 } },
      ],
    });
  });

  it('are those of the system where none are given, or it has no such limit', () => {
    const none = system({ capabilities: NO_LIMITS, limits: () => ({ memoryBytes: null, smPercent: null }) });
    const tenants = [{ id: 1 }, { id: 2 }];
    expect(limitsOf(two('memory: 10GiB'), none)).toEqual({ tenants });
    expect(limitsOf(two(''))).toEqual({ tenants });
  });

  it('are unsupported where different ones cannot live at the same time, and fine where all are the same', () => {
    const one = system({ limitsCoexist: false });
    expect(limitsOf(two("sm: '30'"), one)).toEqual({
      unsupported:
        'tenants of mine cannot have different limits at the same time (v 20480 MiB, 30 % SM, l2-thrash 20480 MiB, 60 % SM): give them the same',
    });
    expect(limitsOf(two("sm: '30'", "sm: '30'"), one)).toMatchObject({ tenants: [{}, {}] });
  });

  it('are unsupported where the system cannot give them', () => {
    const partitioned = system({ limits: () => ({ memoryBytes: null, smPercent: null }) });
    expect(limitsOf(two("sm: '30'"), partitioned)).toEqual({
      unsupported: 'mine cannot give v limits of its own: all tenants have those of the system',
    });
  });

  it('are no larger than the card, and no part of one of unknown size', () => {
    expect(() => limitsOf(two('memory: 200GiB'))).toThrow("Expected memory of v to be at most the card's 102400 MiB");
    expect(() => limitsOf(two('memory: 10%'), system(), null)).toThrow('NVML does not say');
  });
});
