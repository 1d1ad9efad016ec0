/**
 * Metrics on a simulated MIG instance, whose parts of its card are known: 60 of 132 multiprocessors, half of the memory, its
 * bandwidth and that of the bus. A process loads NVML for one card only, so this file has its own.
 */
import { readdirSync } from 'node:fs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { measureMetric } from '../../../lib/metrics/core/measure.js';
import { bandwidthInterferenceBy } from '../../../lib/metrics/bandwidth/bw-004-bandwidth-interference.js';
import { cacheCollisionBy } from '../../../lib/metrics/cache/cache-003-collision.js';
import type { MetricDefinition } from '../../../lib/metrics/core/metric.js';
import { noisyNeighborBy } from '../../../lib/metrics/isolation/is-009-noisy-neighbor.js';
import { MENU } from '../../../lib/metrics/isolation/shared/aggressor-menu.js';
import type { InterferenceRow } from '../../../lib/metrics/isolation/shared/neighbour-play.js';
import { timingChannelBy } from '../../../lib/metrics/isolation/is-015-timing-channel.js';
import { batchScalingBy } from '../../../lib/metrics/llm/llm-003-batch-scaling.js';
import { sharedTokenThroughputBy } from '../../../lib/metrics/llm/llm-011-shared-token-throughput.js';
import { contentionBy } from '../../../lib/metrics/pcie/pcie-003-contention.js';
import { MIB } from '../../../lib/metrics/core/units.js';
import { metrics } from '../../../lib/metrics/registry.js';
import type { MetricResult, Tier } from '../../../lib/results/document.js';
import { createSystem } from '../../../lib/systems/kinds.js';
import { startOf, type System } from '../../../lib/systems/system.js';
import { Worker } from '../../../lib/workers/worker.js';
import { command, parseComparison } from '../../cli/command.js';
import { metricNamed } from '../../metric-named.js';
import { emptyFolder, simulatedFolder } from '../../native/child.js';
import { environmentUnder } from '../../native/measured.js';
import { ownRegion } from '../../temporary.js';
import { undisturbed } from '../../undisturbed.js';
import { runState } from '../../unit/systems/fixtures.js';

const SMS = 60 / 132;
const HALF = 0.5;
/** Memory of an instance: LLM-003 needs 512 MiB that are free. */
const INSTANCE_MIB = 520;
/** Card 0 has two equal instances, card 1 is whole. Work of the device takes much longer than the host's calls. */
const CARDS = `devices=2,mig@0=3+3,tensor_tflops=0.5,pcie_gbs=20,memory_mib=${INSTANCE_MIB / HALF},context_mib=1,l2_mib=4`;

/** Parts of what the whole card gives. */
const RATES: Readonly<Record<string, number>> = { 'LLM-001': SMS, 'PCIE-001': HALF, 'PCIE-002': HALF };
/** What tenants with instances of their own find, and how near the result is to it: each has all that it had alone. */
const APART: Readonly<Record<string, readonly [value: number, within: number]>> = {
  'IS-006': [100, 5],
  'IS-008': [1, 0.05],
  // Four tenants on two instances: each has half of one, where a quarter of it was its part. A busy host leaves gaps between
  // the kernels of one of them; on one instance it would be 100.
  'BW-001': [200, 50],
  'BW-002': [1, 0.05],
  'CACHE-001': [100, 1],
  'CACHE-002': [0, 2],
  'CACHE-004': [0, 5],
  'SCHED-004': [0, 0.1],
};
/** Truths of their own, below. */
const OWN = [
  ...['IS-001', 'IS-002', 'IS-009', 'IS-011', 'IS-013', 'IS-015', 'BW-003', 'BW-004', 'CACHE-003', 'PCIE-003'],
  ...['LLM-011', 'OH-010'],
];
/** Compared with the record of an instance by the tests of the metric itself. */
const RECORDED = ['LLM-004', 'LLM-007', 'SCHED-003'];
/** There is nothing to measure, which is said. */
const NOTHING = ['SCHED-001', 'OH-008', 'IS-003', 'IS-004', 'IS-012'];

/** What a partition does not change, and why. */
const SAME: Readonly<Record<string, readonly string[]>> = {
  'time of the host in calls of the driver, or beside them': [
    ...['OH-001', 'OH-002', 'OH-003', 'OH-004', 'OH-005', 'OH-006', 'OH-007', 'OH-009', 'LLM-002', 'LLM-005'],
    ...['START-001', 'START-002', 'START-003', 'START-004', 'START-005', 'START-006', 'ERR-001', 'ERR-002'],
    // The record of an instance shows it, in a test of its own.
    'SCHED-002',
  ],
  'a ratio of two numbers of the same instance': [
    ...['IS-007', 'LLM-003', 'LLM-006', 'LLM-008', 'LLM-009', 'PCIE-004', 'FRAG-001', 'FRAG-002', 'FRAG-003'],
  ],
  'what is answered, whatever the size': ['IS-005', 'IS-010', 'IS-014', 'ERR-003', 'COMPAT-001'],
  'needs several whole cards': ['LLM-010', 'NCCL-001', 'NCCL-002', 'NCCL-003', 'NCCL-004'],
  'the driver checkpoints no process on an instance': metrics
    .map(({ id }) => id)
    .filter((id) => id.startsWith('CKPT-')),
};

it('names every metric once', () => {
  const named = [
    ...Object.keys(RATES),
    ...Object.keys(APART),
    ...OWN,
    ...RECORDED,
    ...NOTHING,
    ...Object.values(SAME).flat(),
  ];
  expect(named.toSorted()).toEqual(metrics.map(({ id }) => id).toSorted());
});

it('gives the parts of the instance', async () => {
  const ids = [...Object.keys(RATES), 'IS-013'];
  const compare = async () => {
    const few = ['--simulate', '--tier', 'quick', '--iterations', '3', '--rounds', '1', '--json', '-'];
    const systems = ['--system', 'native', '--system', 'mig:profile=3g.1gb'];
    const args = ['compare', ...ids, ...few, ...systems, '--output', `${emptyFolder()}/out`];
    const { stdout } = await command(args, {}, CARDS);
    return parseComparison(stdout).systems.map(([round]) => round?.metrics ?? []);
  };
  const [whole, part] = await undisturbed(compare, (arms) => arms.flat());
  const value = (id: string, arm = part) => arm?.find((each) => each.id === id)?.value ?? Number.NaN;
  for (const [id, share] of Object.entries(RATES))
    expect.soft(value(id) / value(id, whole) / share, id).toBeCloseTo(1, 1);
  expect(value('IS-013')).toBe(1);
});

/** Systems on both instances, prepared in one run directory, and torn down after the test. */
async function onInstances(card: string, ...settings: readonly Record<string, string>[]) {
  const sim = `region=${ownRegion('mig')},init_ms=1,context_ms=1,${CARDS}${card && `,${card}`}`;
  vi.stubEnv('GVB_SIM', sim);
  const folder = emptyFolder();
  const caller = { PATH: process.env.PATH, HOME: folder, GVB_SIM: sim };
  const run = { ...runState(folder), target: { simulatedDriver: simulatedFolder } };
  const systems = settings.map((own) =>
    createSystem('mig', { profile: '3g.1gb', card: '0', ...own }, { caller, folder }),
  );
  for (const system of systems) {
    onTestFinished(() => system.teardown());
    await system.prepare(run);
  }
  return { systems: systems as [System, ...System[]], run };
}

it('keeps the state of the layers where no other system can have it', async () => {
  const { systems, run } = await onInstances('', {}, { name: 'mig-2' });
  expect(readdirSync(run.directory).toSorted()).toEqual(['mig', 'mig-2', 'mig-2@2', 'mig@2']);
  for (const system of systems) await system.teardown();
  expect(readdirSync(run.directory)).toEqual([]);
});

type Measure = MetricDefinition['measure'];

interface How {
  measure?: Measure;
  /** More settings of the simulated card. */
  card?: string;
  /** `own`: each tenant has an instance of its own, while there are enough; `shared`: all have the first. */
  tenants?: string;
  tier?: Tier;
}

async function measured(id: string, { measure, card = '', tenants = 'own', tier = 'quick' }: How = {}) {
  const { systems } = await onInstances(card, { tenants });
  const definition = { ...metricNamed(id), ...(measure && { measure }) };
  return undisturbed(
    () => measureMetric(definition, { simulate: true, seed: 1, tier }, { system: systems[0] }),
    (each) => [each],
  );
}

describe('with instances of their own', () => {
  it.each(Object.entries(APART))('%s is what its instance gives', async (id, [value, within]) => {
    const result = await measured(id);
    expect(result).toMatchObject({ status: 'ok' });
    expect(Math.abs((result.value ?? Number.NaN) - value)).toBeLessThan(within);
    // Nothing sets a quota: the instance has the size that it has.
    expect(JSON.stringify(result.details)).not.toMatch(/"(limit|quota)Percent":\d/);
  });

  it('has no row under a limit that nothing sets (LLM-003)', async () => {
    const measure = batchScalingBy({ n: 512, k: 1024, layers: 2, streamBytes: 4 * MIB });
    const result = await measured('LLM-003', { measure, card: 'dram_gbs=10', tier: 'standard' });
    expect(result).toMatchObject({ status: 'ok' });
    expect(result.details).not.toHaveProperty('limited');
  });

  it('moves twice what one moves (BW-003)', async () => {
    const { status, details } = await measured('BW-003');
    const { rows, n95 } = details as { rows: { tenants: number; aggregateGbPerSecond: number }[]; n95: number };
    const [one, two] = rows.map(({ aggregateGbPerSecond }) => aggregateGbPerSecond) as [number, number];
    expect([status, rows.map(({ tenants }) => tenants).slice(0, 2), n95]).toEqual(['ok', [1, 2], 2]);
    expect(two / one).toBeCloseTo(2, 1);
  });

  describe('and the end of their memory as the limit', () => {
    type Path = Record<'path' | 'outcome' | 'reason', string> & Record<'usedBytes' | 'limitBytes', number>;
    const pathsOf = ({ details }: MetricResult) => (details as { paths: Path[] }).paths;
    /** Managed memory is not filled to the end, and pinned memory is the host's. */
    const others = ['cuMemAllocManaged', 'pinned host memory'];
    const refused = (result: MetricResult) => pathsOf(result).filter(({ path }) => !others.includes(path));

    it('can use all of it (IS-001)', async () => {
      const result = await measured('IS-001');
      // A context and blocks of 2 MiB leave less than 4 MiB.
      expect(result.status).toBe('ok');
      expect(result.value).toBeGreaterThan(99);
      expect(result.value).toBeLessThanOrEqual(100);
      for (const { path, outcome, usedBytes, limitBytes } of refused(result)) {
        expect.soft([path, outcome, limitBytes]).toEqual([path, 'enforced', INSTANCE_MIB * MIB]);
        expect.soft(usedBytes, path).toBeLessThanOrEqual(limitBytes);
      }
      expect(pathsOf(result).find(({ path }) => path === others[0])).toMatchObject({
        outcome: 'unsupported',
        reason: 'the card has too little free memory to reach the limit',
      });
    });

    it('is refused on every path (IS-011)', async () => {
      const result = await measured('IS-011');
      expect(result).toMatchObject({ status: 'ok', value: 100 });
      expect(result.violations).toBeUndefined();
      expect(refused(result).map(({ outcome }) => outcome)).toEqual(refused(result).map(() => 'enforced'));
    });

    it('is refused fast, also more than it has (IS-002)', async () => {
      const result = await measured('IS-002');
      const { rows } = result.details as { rows: { request: string; refused: number; accepted: number }[] };
      expect(result.status).toBe('ok');
      expect(rows.map(({ request }) => request)).toEqual(['gross', 'gross', 'marginal', 'marginal']);
      for (const row of rows) expect(row).toMatchObject({ refused: 300, accepted: 0 });
    });
  });

  it.each<readonly [id: string, reason: string]>([
    ['SCHED-001', 'contexts run concurrently: there is no switch between them'],
    ['OH-008', 'the limit is a partition of the hardware, which no launch passes through'],
    ...['IS-003', 'IS-004', 'IS-012'].map((id) => [id, 'no compute limit is set'] as const),
  ])('%s has no number: %s', async (id, reason) => {
    expect(await measured(id)).toMatchObject({ status: 'unsupported', value: null, reason });
  });
});

interface Range {
  least: number;
  most: number;
}
type Beside = readonly [
  id: string,
  measure: Measure,
  card: string,
  of: (result: MetricResult) => number,
  ranges: { own: Range; shared?: Range },
];

const valueOf = ({ value }: MetricResult): number => value ?? Number.NaN;
const STREAMING = MENU.filter(({ kind }) => kind === 'dramStream');

describe.each<Beside>([
  [
    'BW-004',
    bandwidthInterferenceBy({ neighbours: [1], aloneMs: 200, togetherMs: 400, turns: 1 }),
    '',
    valueOf,
    { own: { least: -5, most: 5 }, shared: { least: 40, most: 60 } },
  ],
  // Four tenants on two instances: each has half of the bus of one, where a quarter of it was its part.
  [
    'PCIE-003',
    contentionBy({ aloneMs: 150, togetherMs: 400, leads: 40 }),
    'pcie_gbs=1',
    valueOf,
    { own: { least: 40, most: 60 } },
  ],
  // Steps of 27 ms: what a busy host takes of them is little.
  [
    'LLM-011',
    sharedTokenThroughputBy({ aloneMs: 1_500, togetherMs: 1_500 }, { batch: 2, prompt: 16, output: 12 }),
    'kernel_ns=3000000',
    ({ details }) => details.ofAlone as number,
    { own: { least: 1.5, most: 2.4 }, shared: { least: 0.6, most: 1.4 } },
  ],
])('%s', (id, measure, card, of, ranges) => {
  it.each(Object.entries(ranges))('with %s instances is $1', async (tenants, { least, most }) => {
    const result = await measured(id, { measure, card, tenants });
    expect(result).toMatchObject({ status: 'ok' });
    const found = of(result);
    expect(found).toBeGreaterThan(least);
    expect(found).toBeLessThan(most);
  });
});

describe('IS-009, beside a neighbour that needs the whole bandwidth', () => {
  const measure = noisyNeighborBy({
    menu: STREAMING,
    times: { aloneMs: 100, togetherMs: 300, aggressorAloneMs: 150, together: 1 },
    traceMs: 200,
  });

  it('takes as long on the device with an instance each, of which none runs blocks of both', async () => {
    const { details } = await measured('IS-009', { measure });
    expect((details.interference as InterferenceRow[])[0]?.devicePercent).toBeCloseTo(0, 0);
    expect(details.sharing).toMatchObject({ kind: 'partition', multiprocessors: [60, 60], sharedMultiprocessors: 0 });
  });

  it('waits for its turn where both share one', async () => {
    const { value, details } = await measured('IS-009', { measure, tenants: 'shared' });
    expect(value).toBeGreaterThan(40);
    expect(details.sharing).toMatchObject({ kind: 'time slices', sharedMultiprocessors: 60 });
  });
});

it('CACHE-003 measures sets by the cache of an instance, which has room for those of its tenants', async () => {
  const measure = cacheCollisionBy({ eighths: [1, 16], windowMs: 300 });
  const { details, value } = await measured('CACHE-003', { measure, card: 'l2_gbs=19200' });
  expect(details.l2Bytes).toBe(2 * MIB);
  expect(Math.abs(value as number)).toBeLessThan(5);
});

/** Calls on any instance slow the strong loads of the simulated card, as was published of memory barriers of a real one. */
it.each([
  ['finds the allocations of a tenant on another instance, where they slow loads', 'alloc_leak_ns=500', 'fails'],
  ['finds nothing where they do not', '', 'inconclusive'],
])('IS-015 %s', async (_, card, verdict) => {
  const measure = timingChannelBy({
    ...{ slotsEach: 16, mostLeads: 40, series: ['volatileCycles', 'acquireCycles'], slotMs: 40 },
    activities: ['allocStorm'],
  });
  const { details } = await measured('IS-015', { measure, card });
  expect(details).toMatchObject({ verdict, missing: [] });
});

describe('OH-010', () => {
  /** So slow that what a unit costs the host, which a busy machine doubles, is a few per cent of it. */
  const WORK = 'tensor_tflops=0.03,fp32_tflops=0.03';

  /** A second context, which does nothing: without one the simulated device takes no time of the host. */
  async function rateBeside(system: System): Promise<number> {
    const idle = { id: 2 };
    await system.prepareTenant(idle);
    const worker = await Worker.start({ start: startOf(system, idle) });
    try {
      const on = { ...worker.targetIn({ simulatedDriver: simulatedFolder }), device: null, path: 'runtime' };
      await worker.request('enter', on, { deadlineMs: 60_000 });
      const { details } = await measureMetric(metricNamed('OH-010'), { simulate: true, seed: 1 }, { system });
      return details.unitsPerSecond as number;
    } finally {
      await worker.kill();
    }
  }

  it('does the work of an instance in its part of the time', async () => {
    const { systems } = await onInstances(WORK, { tenants: 'shared' });
    const part = await rateBeside(systems[0]);
    const whole = await rateBeside(environmentUnder(null, WORK));
    expect(Math.abs(part / whole / SMS - 1)).toBeLessThan(0.1);
  });
});
