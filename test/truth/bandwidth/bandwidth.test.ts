/** BW-001 to BW-004 on the simulated card, whose memory several tenants share or use in turn. */
import { describe, expect, it } from 'vitest';
import { bandwidthFairnessBy } from '../../../lib/metrics/bandwidth/bw-002-bandwidth-fairness.js';
import { bandwidthIsolationBy } from '../../../lib/metrics/bandwidth/bw-001-bandwidth-isolation.js';
import { busSaturationBy } from '../../../lib/metrics/bandwidth/bw-003-bus-saturation.js';
import { bandwidthInterferenceBy } from '../../../lib/metrics/bandwidth/bw-004-bandwidth-interference.js';
import { measureMetric } from '../../../lib/metrics/measure.js';
import type { MetricDefinition } from '../../../lib/metrics/metric.js';
import { FIRST_ID } from '../../../lib/metrics/scene.js';
import { jain } from '../../../lib/stats/jain.js';
import { median } from '../../../lib/stats/median.js';
import { environmentSystem } from '../../../lib/systems/environment.js';
import type { System } from '../../../lib/systems/system.js';
import type { MetricResult } from '../../../lib/results/document.js';
import { metricNamed } from '../../metric-named.js';
import { environment } from '../../native/measured.js';
import { recordedByProcess } from '../../native/record.js';
import { temporaryFolder } from '../../temporary.js';
import { undisturbed, undisturbedRecord } from '../../undisturbed.js';
import { busyIn, type Kernel, kernelsIn, lasted, percentages, staggered } from '../isolation/shares.js';

/** A small L2 cache, so that buffers have the least size of 64 MiB. */
const CARD = ',l2_mib=4';
const TIMES = { aloneMs: 50, togetherMs: 600 };

const measure = (id: string, by: MetricDefinition['measure'], system: System) =>
  measureMetric({ ...metricNamed(id), measure: by }, { simulate: true, seed: 1 }, { system });

/** Contexts of one card that run at the same time, like clients of MPS, or in turn. */
const tenants = (record: string, more: string): System =>
  staggered(
    environmentSystem(environment(null, `recorded=cuLaunchKernel+cuDevicePrimaryCtxRetain${CARD}${more}`, record)),
  );

/** Names of the kernels in the record, which keeps at most 15 characters. */
const READ = 'gvb_bandwidth_r';
const WRITE = 'gvb_bandwidth_w';

/**
 * The kernels of every window in which a process read, by process. A kernel that fills the buffer precedes each window.
 */
const windowsIn = (folder: string): Kernel[][][] =>
  recordedByProcess(folder)
    .map(({ calls }) => {
      const windows: Kernel[][] = [];
      for (const call of calls)
        if (call.kernel === WRITE) windows.push([]);
        else if (call.kernel === READ) windows.at(-1)?.push(call);
      return windows.filter((kernels) => kernels.length > 0);
    })
    .filter((windows) => windows.length > 0);

/** The last windows of the last processes, and the time that they have in common. */
function commonWindows(folder: string, processes: number) {
  const windows = windowsIn(folder)
    .slice(-processes)
    .map((own) => own.at(-1) as Kernel[]);
  const from = Math.max(...windows.map((kernels) => (kernels[0] as Kernel).begins));
  const to = Math.min(...windows.map((kernels) => (kernels.at(-1) as Kernel).ends));
  return { windows, from, to };
}

/** Kernels per ns that each of the last processes finished in the time that their last windows have in common. */
function together(folder: string, processes: number): number[] {
  const { windows, from, to } = commonWindows(folder, processes);
  return windows.map((kernels) => kernelsIn(kernels, from, to) / (to - from));
}

/**
 * The least part of the common time in which a tenant always had a kernel to run. Several are in flight, so it has none
 * only while a busy machine keeps its process from launching.
 */
const LEAST_BUSY = 0.97;

/** Measures again while the machine kept one of four concurrent tenants from launching. */
const undisturbedTenants = (run: (folder: string) => Promise<MetricResult>) =>
  undisturbed(
    async () => {
      const record = temporaryFolder('record');
      return { result: await run(record), record };
    },
    ({ result }) => [result],
    ({ result, record }) => {
      const { windows, from, to } = commonWindows(record, 4);
      const least = Math.min(...windows.map((kernels) => busyIn(kernels, from, to) / (to - from)));
      return least >= LEAST_BUSY ? [] : [{ id: result.id, reason: `a tenant ran for ${least.toFixed(2)} of the time` }];
    },
  );

const rateOf = (kernels: readonly Kernel[]): number =>
  kernels.length / ((kernels.at(-1) as Kernel).ends - (kernels[0] as Kernel).begins);

/** Kernels per ns of the first process, which runs alone; its first window is a rehearsal. */
const alone = (folder: string): number => rateOf(windowsIn(folder)[0]?.at(-1) as Kernel[]);

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

describe('four tenants of which some may use more multiprocessors', () => {
  /**
   * Quotas in per cent of 128 multiprocessors. One block per multiprocessor saturates the memory; 6.25 % are 8
   * multiprocessors with two blocks each.
   */
  const PERCENT = [50, 50, 50, 6.25];
  const unequal = (record: string) => percentages(({ id }) => PERCENT[id - FIRST_ID] as number, CARD, record);

  it('BW-001 finds what the worst gets of its part', async () => {
    const { result, record } = await undisturbedTenants((folder) =>
      measure('BW-001', bandwidthIsolationBy(TIMES), unequal(folder)),
    );
    const recorded = (100 * Math.min(...together(record, 4))) / (alone(record) / 4);
    expect(result).toMatchObject({ status: 'ok', processes: 4 });
    expect(recorded).toBeGreaterThan(45);
    expect(recorded).toBeLessThan(55);
    expect(Math.abs((result.value as number) - recorded)).toBeLessThan(1);
  });

  it('BW-002 finds how unequal they are', async () => {
    const { result, record } = await undisturbedTenants((folder) =>
      measure('BW-002', bandwidthFairnessBy(TIMES.togetherMs), unequal(folder)),
    );
    const recorded = jain(together(record, 4)) as number;
    expect(result).toMatchObject({ status: 'ok', processes: 4 });
    // Computed by hand: one tenant gets an eighth, the others share the rest.
    expect(recorded).toBeCloseTo(jain([7 / 24, 7 / 24, 7 / 24, 1 / 8]) as number, 1);
    expect(Math.abs((result.value as number) - recorded)).toBeLessThan(0.01);
  });
});

describe.each([
  ['run at the same time', ',mps=1', 0.5],
  ['take turns', '', 0.125],
])('BW-003, where tenants %s', (_, card, expected) => {
  it('finds what four of eight reach together', async () => {
    const plan = { tenants: [1, 4], aloneMs: 50, togetherMs: 400 };
    const { result, record } = await undisturbedRecord((folder) =>
      measure('BW-003', busSaturationBy(plan), tenants(folder, `${card},sms=128`)),
    );
    expect(result).toMatchObject({ status: 'ok', processes: 4, details: { blocksOfTenant: 16 } });
    const recorded = sum(together(record, 4)) / alone(record);
    expect(recorded).toBeCloseTo(expected, 1);
    expect(Math.abs((result.value as number) / recorded - 1)).toBeLessThan(0.03);
  });
});

it('BW-004 finds what one neighbour costs, and that it is an equal part', async () => {
  const plan = { neighbours: [1], aloneMs: 200, togetherMs: 400, turns: 1 };
  const { result, record } = await undisturbedRecord((folder) =>
    measure('BW-004', bandwidthInterferenceBy(plan), tenants(folder, ',mps=1')),
  );
  const [row] = result.details.rows as { lossPercent: number; excessPercent: number }[];
  expect(result).toMatchObject({ status: 'ok', processes: 2, value: row?.lossPercent });
  const [, before, ...others] = windowsIn(record)[0] as [Kernel[], Kernel[], ...Kernel[][]];
  const after = others.at(-1) as Kernel[];
  const lengthOf = (kernels: readonly Kernel[]) => median(kernels.map(lasted)).value;
  // Two tenants that each need the whole bandwidth get half of it each.
  expect(lengthOf(others[0] as Kernel[]) / lengthOf(before)).toBeCloseTo(2, 2);
  const least = 100 * (1 - Math.max(...others.slice(0, 2).map(rateOf)) / Math.min(rateOf(before), rateOf(after)));
  const most = 100 * (1 - Math.min(...others.slice(0, 2).map(rateOf)) / Math.max(rateOf(before), rateOf(after)));
  expect(result.value).toBeGreaterThan(least - 3);
  expect(result.value).toBeLessThan(most + 3);
  expect(row?.excessPercent).toBeCloseTo((result.value as number) - 50, 9);
});
