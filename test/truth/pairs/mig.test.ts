/**
 * Metrics on a simulated MIG instance, whose parts of its card are known: 60 of 132 multiprocessors, half of the memory, its
 * bandwidth and that of the bus. A process loads NVML for one card only, so this file has its own.
 */
import { readdirSync } from 'node:fs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { measureMetric } from '../../../lib/metrics/core/measure.js';
import { bandwidthInterferenceBy } from '../../../lib/metrics/bandwidth/bw-004-bandwidth-interference.js';
import { MIB } from '../../../lib/metrics/core/units.js';
import { metrics } from '../../../lib/metrics/registry.js';
import type { MetricResult } from '../../../lib/results/document.js';
import { createSystem } from '../../../lib/systems/kinds.js';
import type { System } from '../../../lib/systems/system.js';
import { command, parseComparison } from '../../cli/command.js';
import { metricNamed } from '../../metric-named.js';
import { emptyFolder, simulatedFolder } from '../../native/child.js';
import { ownRegion } from '../../temporary.js';
import { undisturbed } from '../../undisturbed.js';
import { runState } from '../../unit/systems/fixtures.js';

const SMS = 60 / 132;
const HALF = 0.5;
/** Card 0 has two equal instances, card 1 is whole. Work of the device takes much longer than the host's calls. */
const CARDS = 'devices=2,mig@0=3+3,tensor_tflops=0.5,pcie_gbs=20,memory_mib=1024,context_mib=1,l2_mib=4';

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
/** Truths of their own. */
const OWN = ['IS-001', 'IS-002', 'IS-011', 'IS-013', 'BW-003', 'BW-004'];
/** There is nothing to measure, which is said. */
const NOTHING = ['SCHED-001', 'OH-008', 'IS-003', 'IS-004', 'IS-012'];

/** What a partition does not change, and why. */
const SAME: Readonly<Record<string, readonly string[]>> = {
  'time of the host in calls of the driver, or beside them': [
    ...['OH-001', 'OH-002', 'OH-003', 'OH-004', 'OH-005', 'OH-006', 'OH-007', 'OH-009', 'LLM-002', 'LLM-005'],
    ...['START-001', 'START-002', 'START-003', 'START-004', 'START-005', 'START-006', 'ERR-001', 'ERR-002'],
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

/** What a partition changes, and no test here has yet. */
const UNTESTED = [
  ...['OH-010', 'IS-009', 'IS-015', 'LLM-004', 'LLM-007', 'LLM-011', 'SCHED-002', 'SCHED-003', 'CACHE-003', 'PCIE-003'],
];

it('names every metric once', () => {
  const named = [
    ...Object.keys(RATES),
    ...Object.keys(APART),
    ...OWN,
    ...NOTHING,
    ...Object.values(SAME).flat(),
    ...UNTESTED,
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

const sim = `region=${ownRegion('mig')},init_ms=1,context_ms=1,${CARDS}`;

/** Systems on both instances, prepared in one run directory, and torn down after the test. */
async function onInstances(...settings: readonly Record<string, string>[]) {
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
  const { systems, run } = await onInstances({}, { name: 'mig-2' });
  expect(readdirSync(run.directory).toSorted()).toEqual(['mig', 'mig-2', 'mig-2@2', 'mig@2']);
  for (const system of systems) await system.teardown();
  expect(readdirSync(run.directory)).toEqual([]);
});

describe('with instances of their own', () => {
  async function measured(id: string) {
    const { systems } = await onInstances({});
    return undisturbed(
      () => measureMetric(metricNamed(id), { simulate: true, seed: 1 }, { system: systems[0] }),
      (each) => [each],
    );
  }

  it.each(Object.entries(APART))('%s is what its instance gives', async (id, [value, within]) => {
    const result = await measured(id);
    expect(result).toMatchObject({ status: 'ok' });
    expect(Math.abs((result.value ?? Number.NaN) - value)).toBeLessThan(within);
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
      // A context and blocks of 2 MiB leave less than 4 MiB of 512.
      expect(result.status).toBe('ok');
      expect(result.value).toBeGreaterThan(99);
      expect(result.value).toBeLessThanOrEqual(100);
      for (const { path, outcome, usedBytes, limitBytes } of refused(result)) {
        expect.soft([path, outcome, limitBytes]).toEqual([path, 'enforced', 512 * MIB]);
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

describe('BW-004, beside a neighbour that needs the whole bandwidth', () => {
  async function lost(tenants: string): Promise<unknown> {
    const { systems } = await onInstances({ tenants });
    const measure = bandwidthInterferenceBy({ neighbours: [1], aloneMs: 200, togetherMs: 400, turns: 1 });
    const result = await undisturbed(
      () => measureMetric({ ...metricNamed('BW-004'), measure }, { simulate: true, seed: 1 }, { system: systems[0] }),
      (each) => [each],
    );
    expect(result).toMatchObject({ status: 'ok', processes: 2 });
    return result.value;
  }

  it('loses nothing with an instance each', async () => {
    expect(Math.abs((await lost('own')) as number)).toBeLessThan(5);
  });

  it('loses its part where both share one', async () => {
    expect(await lost('shared')).toBeGreaterThan(40);
  });
});
