/** SCHED-002: bursts of launches compared with the driver's record of the same bursts. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import type { MetricResult } from '../../../lib/results/document.js';
import { interposerLibrary } from '../../../lib/native/load.js';
import { median } from '../../../lib/stats/median.js';
import { emptyFolder, measure, measureRecorded, type Settings } from '../../native/child.js';
import type { Recorded } from '../../native/record.js';

const BURSTS = 3;
const OF_BURST = 20_000;
/** Part of a burst that the readings of the clock at its ends may take. */
const MOST_EXCESS = 0.002;
const layer = join(emptyFolder(), 'lazy-layer.so');

beforeAll(() => {
  const source = fileURLToPath(new URL('../../native/fixtures/lazy-layer.cpp', import.meta.url));
  execFileSync('c++', ['-std=c++17', '-shared', '-fPIC', '-w', '-o', layer, source, '-ldl']);
});

const request = [['measureLaunchOverhead', { iterations: BURSTS, warmup: 0, seed: 1 }]] as const;
const recordedCalls = 'cuLaunchKernel+cuLaunchKernelEx+cuGraphLaunch+cuStreamSynchronize';

interface Row {
  row: string;
  call: string;
  usPerKernel: number;
  failed?: string;
}

const rowsOf = ({ details }: MetricResult) => details.rows as Row[];

/** Time per launch from the first launch of a burst until the wait after its stamp returned. */
function burstsOf(recorded: Recorded): number[] {
  const launches = recorded.named('cuLaunchKernel');
  const waits = recorded.named('cuStreamSynchronize');
  const bursts: number[] = [];
  let first = 0;
  for (const [i, { kernel, left, thread }] of launches.entries()) {
    if (kernel !== 'gvb_stamp') continue;
    const entered = launches[first]?.entered as number;
    const count = i - first + 1;
    const wait = waits.find((one) => one.thread === thread && one.entered >= left);
    if (count === OF_BURST + 1 && wait) bursts.push((wait.left - entered) / count);
    first = i + 1;
  }
  return bursts;
}

const measured = async (settings: Settings, environment: NodeJS.ProcessEnv = {}) => {
  const { results, recorded } = await measureRecorded(request, {
    sim: { init_ms: 1, context_ms: 1, recorded: recordedCalls, ...settings },
    environment,
  });
  return { result: results[0] as MetricResult, recorded };
};

/**
 * A measured burst is the recorded one with a reading of the clock at each end, where the host can be late: the least
 * disturbed of them agrees.
 */
function expectSame(result: MetricResult, truth: readonly number[]): void {
  const excess = (result.blocks as number[]).map((us, burst) => (1e3 * us) / (truth[burst] as number) - 1);
  expect(excess).toHaveLength(BURSTS);
  for (const one of excess) expect(one).toBeGreaterThan(0);
  expect(Math.min(...excess)).toBeLessThan(MOST_EXCESS);
  expect(result.value).toBe(median(result.blocks as number[]).value);
}

describe('SCHED-002', () => {
  it.each<[string, Settings]>([
    ['a card', {}],
    ['an instance, where a small kernel takes as long', { mig: '3+3' }],
  ])('recovers what a launch costs in a burst, and what a kernel takes the device: %s', async (_, card) => {
    const { result, recorded } = await measured({ launch_ns: 9000, kernel_ns: 7000, stamp_ns: 40_000, ...card });
    expect(result.status).toBe('ok');
    expectSame(result, burstsOf(recorded));
    // The stamps themselves are not in it, whose kernels take longer. The simulated driver needs up to 4 us to submit a
    // kernel of a graph: what the device takes is seen if that is longer.
    expect((result.details.deviceUsPerKernel as number) * 1e3).toBeCloseTo(7000, 0);
    expect(rowsOf(result).map(({ call }) => call)).toEqual([
      'cuLaunchKernel',
      'cuLaunchKernelEx',
      'cuGraphLaunch',
      'cuLaunchKernel',
    ]);
    for (const { usPerKernel } of rowsOf(result).filter(({ row }) => !row.includes('threads')))
      expect(usPerKernel).toBeGreaterThan(0.9);
  });

  it('recovers what a layer adds to each launch of a burst', async () => {
    const hooks = { LD_PRELOAD: interposerLibrary() ?? '', GVB_INTERPOSE: 'cuLaunchKernel=+2000ns' };
    const { result, recorded } = await measured({}, hooks);
    expect(result.status).toBe('ok');
    expectSame(result, burstsOf(recorded.joined()));
  });

  it.each([
    ['cuLaunchKernel=15000', 'returned before the last of 20000 launches had run'],
    ['kernel=gvb_count', 'accepted kernels of 20000 blocks, the device ran 0'],
    ['cuStreamSynchronize=0', 'returned before the last of 20000 launches had run'],
  ])('publishes no number under a layer that skips work: %s', async (lazy, reason) => {
    const [result] = await measure(request, {
      sim: { init_ms: 1, context_ms: 1 },
      environment: { LD_PRELOAD: layer, GVB_TEST_LAZY: lazy },
    });
    expect(result).toMatchObject({ status: 'invalid', value: null });
    expect(result?.reason).toContain('a call reported success without doing its work');
    expect(result?.reason).toContain(reason);
  });

  it('goes on without the rows whose launches a layer skips', async () => {
    const [result] = await measure(request, {
      sim: { init_ms: 1, context_ms: 1 },
      environment: { LD_PRELOAD: layer, GVB_TEST_LAZY: 'cuGraphLaunch=100' },
    });
    expect(result?.status).toBe('ok');
    const graph = rowsOf(result as MetricResult).find(({ call }) => call === 'cuGraphLaunch');
    expect(graph?.failed).toContain('a call reported success without doing its work');
    expect(result?.checks[0]).toMatchObject({ passed: 'not checked' });
  });
});
