/**
 * Readings that cannot be, as other tools have published: rates above the memory and the link, times of zero, work that
 * was not done, tenants that are none. Each is fed where it would arise, by the simulated card or by a layer that lies,
 * and must end as `invalid` with its reason. A new metric of these categories needs at least one row in OWN.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { measureMetric } from '../../lib/metrics/core/measure.js';
import type { Category, MeasureOptions, MetricDefinition } from '../../lib/metrics/core/metric.js';
import { contentionBy } from '../../lib/metrics/pcie/pcie-003-contention.js';
import { metrics } from '../../lib/metrics/registry.js';
import type { MetricResult } from '../../lib/results/document.js';
import { environmentSystem } from '../../lib/systems/process/environment.js';
import type { System, Tenant } from '../../lib/systems/system.js';
import { metricNamed } from '../metric-named.js';
import { emptyFolder, measure, type MeasureFunction, type Settings, simulatedFolder } from '../native/child.js';
import { ownRegion } from '../temporary.js';
import { undisturbed } from '../undisturbed.js';

const CATEGORIES: readonly Category[] = [
  ...(['bandwidth', 'cache', 'pcie', 'nccl'] as const),
  ...(['scheduling', 'fragmentation', 'error-recovery'] as const),
];

/** Where the simulated NCCL is. */
const nccl = join(simulatedFolder, 'nccl');
const folder = emptyFolder();
const lazyLayer = join(folder, 'lazy-layer.so');
const slowClock = join(folder, 'slow-clock.so');
beforeAll(() => {
  const source = (name: string) => fileURLToPath(new URL(`../native/fixtures/${name}`, import.meta.url));
  const shared = ['-shared', '-fPIC', '-w', '-o'];
  execFileSync('c++', ['-std=c++17', ...shared, lazyLayer, source('lazy-layer.cpp'), '-ldl']);
  execFileSync('cc', [...shared, slowClock, source('slow-clock.c'), '-ldl']);
});

interface Lie {
  name: string;
  /** Settings of the simulated card, which then lies. */
  sim?: Settings;
  environment?: () => NodeJS.ProcessEnv;
  /** Every tenant has a card of its own, which looks as if it were the same. */
  apart?: true;
}

const DEVICE_CLOCK: Lie = { name: "a device's clock at half its rate", sim: { clock_drift_ppm: -500_000 } };
const STOPPED_CLOCK: Lie = { name: "a device's clock that stands still for a second", sim: { timer_step_ns: 1e9 } };
const HOST_CLOCK: Lie = { name: 'host times that are halved', environment: () => ({ LD_PRELOAD: slowClock }) };
const APART: Lie = { name: 'tenants that are not on one card', apart: true };
const lazy = (name: string, what: string): Lie => ({
  name,
  environment: () => ({ LD_PRELOAD: lazyLayer, GVB_TEST_LAZY: what }),
});
const NO_KERNELS = lazy('kernels that never run', 'cuLaunchKernel=0');
const NO_ORDER = lazy('streams whose kernels do not wait for each other', 'streams=none');
const NO_MEMORY = lazy('blocks that are made up', 'memory=fake');
const ONE_BLOCK = lazy('the same block again and again', 'memory=same');
const UNTIMED_COPIES: Lie = { name: 'copies that take no time', sim: { copy_lazy: 1, pcie_gen: 1, pcie_width: 1 } };
const HALVED_EVENTS: Lie = {
  ...lazy('times between events that are halved', 'events=half'),
  sim: { pcie_gbs: 2 },
};
const SHORTER_EVENTS: Lie = {
  ...lazy('times between events that are shorter by 4 %', 'events=shorter'),
  sim: { pcie_gbs: 2 },
};
const NO_COPIES: Lie = { name: 'copies that move nothing', sim: { copy_skip: 1 } };

const ofMemory = /^no more than the memory can move: .* GB\/s, but the memory moves 4800 GB\/s$/;
const undone = /^a call reported success without doing its work: /;
const ofLink = /^no faster than the link: .* GB\/s, but PCIe generation \d, \d+ lanes carries /;
const otherEvents = /^the events around copies measured \d+\.\d+ ms, the device's clock \d+\.\d+ ms\.$/;
const unfilled = /^every rank has every result: \d+ of \d+ words on 2 ranks are not what /;
const uncopied = /reported success, but .* words|reported success, but \d+ of \d+/;
const noClock = /^the device's clock ran at 0\.(?:49\d+|5\d*) of the rate of the host's: its times are not times\.$/;
const unordered = /^a call reported success without doing its work: the stamps of successive kernels are not in order/;
const noBlock = /a granted block of \d+ bytes (cannot be written|does not hold what was written to it)/;

const OWN: Readonly<Record<string, readonly (readonly [Lie, RegExp])[]>> = {
  'BW-001': [
    [DEVICE_CLOCK, /^read alone: 60 to 105 % of what the memory can move: 9\d{3} of 4800 GB\/s$/],
    [STOPPED_CLOCK, unordered],
    [APART, ofMemory],
    [NO_KERNELS, undone],
  ],
  'BW-002': [
    [DEVICE_CLOCK, ofMemory],
    [STOPPED_CLOCK, unordered],
    [APART, ofMemory],
    [NO_KERNELS, undone],
  ],
  'BW-003': [
    [DEVICE_CLOCK, /^read alone: 60 to 105 % of what the memory can move: 9\d{3} of 4800 GB\/s$/],
    [STOPPED_CLOCK, unordered],
    [NO_KERNELS, undone],
  ],
  'BW-004': [
    [DEVICE_CLOCK, ofMemory],
    [STOPPED_CLOCK, unordered],
    [APART, ofMemory],
    [NO_KERNELS, undone],
  ],
  'PCIE-001': [
    [DEVICE_CLOCK, ofLink],
    [HALVED_EVENTS, otherEvents],
    [SHORTER_EVENTS, otherEvents],
    [UNTIMED_COPIES, ofLink],
    [NO_COPIES, uncopied],
  ],
  'PCIE-002': [
    [DEVICE_CLOCK, ofLink],
    [HALVED_EVENTS, otherEvents],
    [SHORTER_EVENTS, otherEvents],
    [UNTIMED_COPIES, ofLink],
    [NO_COPIES, uncopied],
  ],
  'CACHE-001': [[NO_KERNELS, undone]],
  'CACHE-002': [[NO_KERNELS, undone]],
  'CACHE-003': [[NO_KERNELS, undone]],
  'CACHE-004': [[NO_KERNELS, undone]],
  'NCCL-001': [[lazy('collectives that never run', 'ncclAllReduce=0'), unfilled]],
  'NCCL-002': [[lazy('collectives that never run', 'ncclAllGather=0'), unfilled]],
  'NCCL-003': [[lazy('copies that never run', 'cuMemcpyPeerAsync=0'), uncopied]],
  'NCCL-004': [[lazy('collectives that never run', 'ncclBroadcast=0'), unfilled]],
  // Copies that take no time are in pairs/pcie-003.test.ts.
  'PCIE-003': [
    [NO_COPIES, /reported success/],
    [{ ...APART, sim: { pcie_gen: 1, pcie_width: 2, pcie_gbs: 0.5 } }, ofLink],
  ],
  'PCIE-004': [
    [UNTIMED_COPIES, ofLink],
    [NO_COPIES, uncopied],
  ],
  'SCHED-001': [
    [DEVICE_CLOCK, noClock],
    [NO_KERNELS, /^The device answered only 0 clock exchanges\.$/],
    [
      { name: 'switches that take no time', sim: { switch_us: 0, timer_step_ns: 1 } },
      /^the clock is fine enough: .* a switch takes 0 ns$/,
    ],
  ],
  'SCHED-002': [[NO_KERNELS, undone]],
  'SCHED-003': [
    [NO_KERNELS, /was launched successfully but did not run: it wrote no times\.$/],
    [NO_ORDER, /^no more kernels at once than streams: \d+ of \d+/],
  ],
  'SCHED-004': [
    [DEVICE_CLOCK, noClock],
    [NO_KERNELS, /^The device answered only 0 clock exchanges\.$/],
  ],
  'FRAG-001': [
    [NO_MEMORY, noBlock],
    [ONE_BLOCK, noBlock],
  ],
  'FRAG-002': [
    [NO_MEMORY, noBlock],
    [ONE_BLOCK, noBlock],
  ],
  'FRAG-003': [
    [NO_MEMORY, noBlock],
    [ONE_BLOCK, noBlock],
  ],
  'ERR-001': [
    [DEVICE_CLOCK, noClock],
    [NO_KERNELS, /^The device answered only 0 clock exchanges\.$/],
  ],
};

/** Contexts of these take turns; those of the others run at the same time. */
const IN_TURN = /^SCHED|^ERR/;
const OPTIONS: MeasureOptions = { simulate: true, tier: 'quick', seed: 1 };
const FEW: Readonly<Record<string, MeasureOptions>> = {
  'ERR-001': { iterations: 2 },
  'PCIE-001': { iterations: 4 },
  'PCIE-002': { iterations: 4 },
};

/** Four tenants on few processors need time to be ready. */
const MEASURED_BY: Readonly<Record<string, MetricDefinition['measure']>> = {
  'PCIE-003': contentionBy({ aloneMs: 120, togetherMs: 800, leads: 10 }),
};

function systemOf(settings: Settings, { environment, apart }: Lie): System {
  const region = ownRegion('impossible');
  const of = (place: string) =>
    Object.entries({ ...settings, region: `${region}${place}` })
      .map(([key, value]) => `${key}=${value}`)
      .join(',');
  const system = environmentSystem({
    PATH: process.env.PATH,
    HOME: emptyFolder(),
    GVB_SIM: of(''),
    LD_LIBRARY_PATH: nccl,
    ...environment?.(),
  });
  if (!apart) return system;
  return {
    ...system,
    kind: 'custom',
    isCallers: false,
    limitsCoexist: true,
    capabilities: { ...system.capabilities, computeLimit: 'smCap' },
    limits: (tenant?: Tenant) => ({ ...system.limits(tenant), smPercent: tenant?.limits?.smPercent ?? null }),
    environment: (tenant?: Tenant) => ({ ...system.environment(tenant), GVB_SIM: of(`-${tenant?.id ?? 0}`) }),
  };
}

async function measured(id: string, lie: Lie): Promise<MetricResult> {
  const definition = metricNamed(id);
  const options = { ...OPTIONS, ...FEW[id] };
  // Small, so that little is filled and copied.
  const memory_mib = definition.where === 'process' ? 96 : 4_096;
  const context_mib = definition.where === 'process' ? 1 : 100;
  const card: Settings = { init_ms: 1, context_ms: 1, memory_mib, context_mib, l2_mib: 4, switch_us: 100 };
  const cards: Settings = definition.needs.includes('two GPUs') ? { devices: 2 } : {};
  const settings: Settings = { ...card, mps: IN_TURN.test(id) ? 0 : 1, ...cards, ...lie.sim };
  if (definition.where !== 'process')
    return measureMetric({ ...definition, measure: MEASURED_BY[id] ?? definition.measure }, options, {
      system: systemOf(settings, lie),
    });
  const { simulate: _, ...own } = options;
  const environment = lie.environment?.();
  const [result] = await measure([[definition.functionName as MeasureFunction, own]], {
    sim: settings,
    ...(environment && { environment }),
  });
  return result as MetricResult;
}

async function expectRefused(id: string, lie: Lie, reason: RegExp): Promise<void> {
  const result = await undisturbed(
    () => measured(id, lie),
    (found) => [found],
  );
  expect(result).toMatchObject({ id, status: 'invalid', value: null, ci95: null, stats: null });
  expect(result.reason).toMatch(reason);
  expect(result).not.toHaveProperty('samples');
}

const known = metrics.filter(({ category }) => CATEGORIES.includes(category)).map(({ id }) => id);

describe.each(known)('%s publishes no number of', (id) => {
  it(HOST_CLOCK.name, () => expectRefused(id, HOST_CLOCK, /^the clock belongs to .*slow-clock\.so /));
  it.each((OWN[id] ?? []).map(([lie, reason]) => [lie.name, lie, reason] as const))('%s', (_, lie, reason) =>
    expectRefused(id, lie, reason),
  );
});

it('has rows for metrics that exist', () => {
  expect(known).toEqual(expect.arrayContaining(Object.keys(OWN)));
});
