/** Scenes of programs on the simulated GPU, through the library. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import * as bench from '../../lib/index.js';
import { interposerLibrary } from '../../lib/native/load.js';
import type { ComparisonDocument, MetricResult } from '../../lib/results/document.js';
import { holdGpu, loadGpu, onGpu } from '../scene-programs.js';
import { ownRegion, temporaryFolder } from '../temporary.js';
import { loadsOf } from '../truth/isolation/shares.js';

const record = temporaryFolder();
beforeAll(() => {
  const settings = ['init_ms=1', 'context_ms=1', `record=${record}`, 'recorded=cuLaunchKernel'];
  vi.stubEnv('GVB_SIM', [`region=${ownRegion('scenes')}`, ...settings].join(','));
});
afterAll(() => vi.unstubAllEnvs());

const options = { simulate: true, rounds: 1, seed: 1 };
const once = { warmup: 0, iterations: 1 };
const metric = (regex: string) => ({ regex, unit: 'x', direction: 'none' as const });

function resultIn({ systems }: ComparisonDocument, id: string): MetricResult {
  const found = systems[0]?.[0]?.metrics.find((result) => result.id === id);
  if (!found) throw new Error(`no ${id} in the document`);
  return found;
}

describe('scenes on the simulated GPU', () => {
  const folder = temporaryFolder();
  let document: ComparisonDocument;
  const of = (id: string) => resultIn(document, id);

  beforeAll(async () => {
    document = await bench.execWorkloads({
      ...options,
      workloads: [
        {
          ...{ name: 'slices', argv: loadGpu, ...once },
          metrics: { kernel: { json: '/us', unit: 'us', direction: 'lower' } },
          tenants: [{ task: 'issue-slots' }],
        },
        {
          ...{ name: 'pair', folder, ...once },
          // Both end when the first of them has been there for a while.
          tenants: ['one', 'two'].map((name) => ({
            name,
            argv: onGpu(`fs.rmSync('go', { force: true }); setTimeout(() => fs.writeFileSync('go', ''), 1500);
              when('go', () => exit(0));`),
          })),
        },
        {
          ...{ name: 'dies', folder, ...once },
          tenants: [
            // Beside the other one it would not end by itself.
            {
              name: 'v',
              argv: onGpu(
                `if (fs.existsSync('there')) { fs.writeFileSync('die', ''); setInterval(() => {}, 9e6); } else exit(0);`,
              ),
            },
            {
              ...{ name: 'mortal', role: 'aggressor' },
              argv: onGpu(`fs.writeFileSync('there', ''); console.error('alas'); when('die', () => exit(3));`),
            },
          ],
        },
        {
          ...{ name: 'absent', ...once },
          tenants: [
            { name: 'v', argv: ['true'] },
            { name: 'gone', role: 'aggressor', argv: ['true'] },
          ],
        },
        {
          ...{ name: 'idle', ...once },
          tenants: [
            { name: 'v', argv: ['true'] },
            { name: 'cpu', role: 'aggressor', argv: ['sh', '-c', 'echo up; sleep 1000'], ready: { line: 'up' } },
          ],
        },
        {
          ...{ name: 'stubborn', ...once },
          tenants: [
            { name: 'v', argv: ['true'] },
            {
              ...{ name: 'deaf', role: 'aggressor' },
              argv: ['bash', '-c', 'trap "" TERM; "$@" & while true; do sleep 0.1; done', 'bash', ...holdGpu],
            },
          ],
        },
        {
          ...{ name: 'fails', ...once },
          tenants: [{ name: 'v', argv: ['sh', '-c', 'echo why; exit 3'] }, { task: 'launch-storm' }],
        },
      ],
    });
  });

  it('say how much longer a kernel takes beside another tenant, as the card did', () => {
    const { value, reason } = of('slices/victim/kernel/slowdown');
    expect(reason).toBeUndefined();
    const [alone, together] = [of('slices/victim/kernel/alone').value, of('slices/victim/kernel').value];
    expect(value).toBe((together as number) / (alone as number));
    // The victim's two runs are the only processes with such kernels, the one alone first.
    const spans = loadsOf(record).map(([load = []]) => ({
      begins: load[0]?.begins ?? Number.NaN,
      perKernel: ((load.at(-1)?.ends ?? Number.NaN) - (load[0]?.begins ?? Number.NaN)) / load.length,
    }));
    expect(spans).toHaveLength(2);
    const [first, second] = spans.sort((a, b) => a.begins - b.begins).map(({ perKernel }) => perKernel);
    expect((value as number) / ((second as number) / (first as number))).toBeCloseTo(1, 2);
  });

  it('show that a built-in aggressor worked on the device for the whole time, and prove every process', () => {
    const { details, checks } = of('slices/victim/wall');
    expect(details.tenants).toMatchObject([
      { name: 'victim', role: 'victim', memoryBytes: null },
      { name: 'issue-slots', role: 'aggressor', task: 'issue-slots' },
    ]);
    const [aggressor, , least] = details.neighbours as Record<string, unknown>[];
    expect(aggressor).toMatchObject({ name: 'issue-slots', use: 'counted', starts: 1 });
    expect(aggressor?.operations).toBeGreaterThan(0);
    expect(least).toMatchObject({ victim: 'victim', leastRunning: 1, leastOnGpu: 1 });
    const passed = (name: string) => checks.find((check) => check.name === name)?.passed;
    for (const name of [
      'processes of the program under the system',
      'neighbours use the GPU',
      'no foreign GPU process',
    ])
      expect([name, passed(name)]).toEqual([name, true]);
  });

  it('measure several victims beside each other', () => {
    const kept = of('pair/fairness').details.kept as Record<string, number>;
    const { one = Number.NaN, two = Number.NaN } = kept;
    expect(of('pair/one/wall/slowdown').value).toBeCloseTo(1 / one, 9);
    expect(of('pair/fairness').value).toBeCloseTo((one + two) ** 2 / (2 * (one ** 2 + two ** 2)), 9);
    const [least, sum] = [Math.max(one, two), one + two];
    expect(of('pair/interference').value).toBeCloseTo((100 * (1 - least)) / (sum - least), 6);
  });

  it.each([
    [
      ...(['dies', 'invalid'] as const),
      /^run 1 of 1, together: mortal did not run beside the victims: it ended with exit code 3, expected 0\. It last printed: alas$/,
    ],
    ['absent', 'invalid', /: gone did not run beside the victims: it ended before it was seen to use the GPU$/],
    ['idle', 'invalid', /^run 1 of 1, together: cpu was never on the GPU: /],
    ['fails', 'failed', /^run 1 of 1, v alone: it ended with exit code 3, expected 0\. It last printed: why$/],
  ])('%s is %s', (name, status, reason) => {
    for (const key of ['wall', 'wall/slowdown', 'cpu'])
      expect(of(`${name}/v/${key}`)).toMatchObject({ status, value: null, reason: expect.stringMatching(reason) });
  });

  it('end an aggressor that ignores SIGTERM, and count all the same', () => {
    expect(of('stubborn/v/wall/slowdown')).toMatchObject({ status: 'ok' });
    // On a busy machine so short a victim ends before NVML lists the aggressor.
    const use = expect.stringMatching(/^(listed|mapped)$/) as string;
    expect(of('stubborn/v/wall').details.neighbours).toMatchObject([{ name: 'deaf', use }, {}, {}]);
  });
});

it('give each tenant limits of its own', async () => {
  const layer = interposerLibrary() as string;
  const document = await bench.execWorkloads({
    ...options,
    systems: [
      {
        ...{ kind: 'custom', name: 'limited', limits: { memory: '8GiB' }, capabilities: { memLimit: 'perProcess' } },
        env: { LD_PRELOAD: layer, GVB_INTERPOSE: 'memory={memoryMiB}MiB' },
        verify: [{ symbolOwner: { symbol: 'cuMemAlloc', matches: 'libgvb-interpose' } }],
      },
    ],
    workloads: [
      {
        ...{ name: 's', argv: ['sh', '-c', 'echo $GVB_INTERPOSE'], ...once, limits: { memory: '6GiB' } },
        metrics: { limit: metric('memory=(.*)MiB') },
        tenants: [{ task: 'launch-storm', limits: { memory: '4GiB' } }],
      },
    ],
  });
  expect(resultIn(document, 's/victim/limit')).toMatchObject({ status: 'ok', value: 6144 });
  expect(resultIn(document, 's/victim/wall').details.tenants).toMatchObject([
    { memoryBytes: 6 * 2 ** 30 },
    { memoryBytes: 4 * 2 ** 30 },
  ]);
  const { proven, of } = document.systems[0]?.[0]?.system.processes ?? {};
  expect(proven).toBe(of);
});
