/** BW-001 to BW-004 on the simulated card, whose memory several tenants share or use in turn. */
import { describe, expect, it } from 'vitest';
import { bandwidthFairnessBy } from '../../../lib/metrics/bandwidth/bw-002-bandwidth-fairness.js';
import { bandwidthIsolationBy } from '../../../lib/metrics/bandwidth/bw-001-bandwidth-isolation.js';
import { busSaturationBy } from '../../../lib/metrics/bandwidth/bw-003-bus-saturation.js';
import { bandwidthInterferenceBy } from '../../../lib/metrics/bandwidth/bw-004-bandwidth-interference.js';
import { measureMetric } from '../../../lib/metrics/core/measure.js';
import type { MetricDefinition } from '../../../lib/metrics/core/metric.js';
import { FIRST_ID } from '../../../lib/metrics/tenants/scene.js';
import { jain } from '../../../lib/stats/jain.js';
import { median } from '../../../lib/stats/median.js';
import { environmentSystem } from '../../../lib/systems/process/environment.js';
import type { System } from '../../../lib/systems/system.js';
import { metricNamed } from '../../metric-named.js';
import { environment } from '../../native/measured.js';
import { commonTime, streamWindows, undisturbedStreams, type Window } from './stream-windows.js';
import { type Kernel, kernelsIn, lasted, percentages, staggered } from '../isolation/shares.js';

/** A small L2 cache, so that buffers have the least size of 64 MiB. */
const CARD = ',l2_mib=4';
const TIMES = { aloneMs: 20, togetherMs: 600 };

const measure = (id: string, by: MetricDefinition['measure'], system: System) =>
  measureMetric({ ...metricNamed(id), measure: by }, { simulate: true, seed: 1 }, { system });

/** Contexts of one card that run at the same time, like clients of MPS, or in turn. */
const tenants = (record: string, more: string): System =>
  staggered(
    environmentSystem(environment(null, `recorded=cuLaunchKernel+cuDevicePrimaryCtxRetain${CARD}${more}`, record)),
  );

/** The last windows of the last processes. */
const lastWindows = (folder: string, processes: number): Window[] =>
  streamWindows(folder)
    .slice(-processes)
    .map((own) => own.at(-1) as Window);

/** Kernels per ns that each of the last processes finished in the time that their last windows have in common. */
function together(folder: string, processes: number): number[] {
  const windows = lastWindows(folder, processes);
  const { from, to } = commonTime(windows);
  return windows.map((kernels) => kernelsIn(kernels, from, to) / (to - from));
}

const rateOf = (kernels: readonly Kernel[]): number =>
  kernels.length / ((kernels.at(-1) as Kernel).ends - (kernels[0] as Kernel).begins);

/** Kernels per ns in each window of the first process, which runs alone; its first window is a rehearsal. */
const aloneIn = (folder: string): number[] => (streamWindows(folder)[0] as Kernel[][]).slice(1).map(rateOf);
const alone = (folder: string): number => median(aloneIn(folder)).value;

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

describe('four tenants of which some may use more multiprocessors', () => {
  /**
   * Quotas in per cent of 128 multiprocessors. One block per multiprocessor saturates the memory; 6.25 % are 8
   * multiprocessors with two blocks each.
   */
  const PERCENT = [50, 50, 50, 6.25];
  const unequal = (record: string) => percentages(({ id }) => PERCENT[id - FIRST_ID] as number, CARD, record);

  it('BW-001 finds what the worst gets of its part', async () => {
    const { result, record } = await undisturbedStreams(
      (folder) => measure('BW-001', bandwidthIsolationBy(TIMES), unequal(folder)),
      (folder) => lastWindows(folder, 4),
    );
    const recorded = (100 * Math.min(...together(record, 4))) / (alone(record) / 4);
    expect(result).toMatchObject({ status: 'ok', processes: 4 });
    expect(aloneIn(record)).toHaveLength(6);
    expect(recorded).toBeGreaterThan(45);
    expect(recorded).toBeLessThan(55);
    expect(Math.abs((result.value as number) - recorded)).toBeLessThan(1);
  });

  it('BW-002 finds how unequal they are', async () => {
    const { result, record } = await undisturbedStreams(
      (folder) => measure('BW-002', bandwidthFairnessBy(TIMES.togetherMs), unequal(folder)),
      (folder) => lastWindows(folder, 4),
    );
    const recorded = jain(together(record, 4)) as number;
    expect(result).toMatchObject({ status: 'ok', processes: 4 });
    // Computed by hand: one tenant gets an eighth, the others share the rest.
    expect(recorded).toBeCloseTo(jain([7 / 24, 7 / 24, 7 / 24, 1 / 8]) as number, 1);
    expect(Math.abs((result.value as number) - recorded)).toBeLessThan(0.01);
  });
});

describe.each([
  ['run at the same time', ',mps=1', 0.5, (folder: string) => lastWindows(folder, 4)],
  // A tenant that takes turns always has pauses.
  ['take turns', '', 0.125, () => []],
])('BW-003, where tenants %s', (_, card, expected, windowsIn) => {
  it('finds what four of eight reach together', async () => {
    const plan = { tenants: [1, 4], aloneMs: 20, togetherMs: 400 };
    const { result, record } = await undisturbedStreams(
      (folder) => measure('BW-003', busSaturationBy(plan), tenants(folder, `${card},sms=128`)),
      windowsIn,
    );
    expect(result).toMatchObject({ status: 'ok', processes: 4, details: { blocksOfTenant: 16 } });
    const recorded = sum(together(record, 4)) / alone(record);
    expect(recorded).toBeCloseTo(expected, 1);
    expect(Math.abs((result.value as number) / recorded - 1)).toBeLessThan(0.03);
  });
});

it('BW-004 finds what one neighbour costs, and that it is an equal part', async () => {
  const plan = { neighbours: [1], aloneMs: 200, togetherMs: 400, turns: 1 };
  const { result, record } = await undisturbedStreams(
    (folder) => measure('BW-004', bandwidthInterferenceBy(plan), tenants(folder, ',mps=1')),
    (folder) => streamWindows(folder).flat(),
  );
  const [row] = result.details.rows as { lossPercent: number; excessPercent: number }[];
  expect(result).toMatchObject({ status: 'ok', processes: 2, value: row?.lossPercent });
  const [, before, ...others] = streamWindows(record)[0] as [Kernel[], Kernel[], ...Kernel[][]];
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
