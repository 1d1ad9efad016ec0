/** SCHED-002 for bursts with known times. */
import { expect, it } from 'vitest';
import type { BurstRequest, LaunchBursts } from '../../../lib/native/addon-types.js';
import { CudaError } from '../../../lib/native/errors.js';
import type { MeasureContext } from '../../../lib/metrics/core/metric.js';
import { kernelLaunchOverhead } from '../../../lib/metrics/scheduling/sched-002-kernel-launch-overhead.js';
import { sessionOf } from '../run/fixtures.js';

/** `graphUs`: the device's time per kernel of a graph; null if no graph can be launched. */
async function measured(launchUs: number, graphUs: number | null) {
  const session = sessionOf({
    launchBursts: ({ call, launches, nodes }: BurstRequest): Promise<LaunchBursts> => {
      if (call === 'cuGraphLaunch' && graphUs === null)
        return Promise.reject(new CudaError(801, 'CUDA_ERROR_NOT_SUPPORTED', call, 'launching'));
      const kernels = launches * nodes;
      const ns = kernels * 1e3 * (call === 'cuGraphLaunch' ? 1 : launchUs);
      return Promise.resolve({
        kernels,
        totalNs: Float64Array.of(ns),
        submitNs: Float64Array.of(ns / 2),
        deviceNs: call === 'cuGraphLaunch' ? 1e3 * (graphUs as number) : null,
        core: 0,
      });
    },
    pacedLaunches: () => Promise.resolve({ tookNs: [3_000, 3_000], preempted: [] }),
  });
  const options = { iterations: 6, tier: 'quick', seed: 1, warmup: null, resolution: 0.01 };
  const context = { options, session: () => Promise.resolve(session), progress: () => {} } as unknown as MeasureContext;
  return kernelLaunchOverhead.measure(context);
}

it('gives the time of a launch where the host is what limits the rate', async () => {
  const { status, value, details, checks } = await measured(2, 1);
  expect(status).toBeUndefined();
  expect(value).toBeCloseTo(2, 12);
  expect(checks.map(({ passed }) => passed)).toEqual([true, true]);
  expect(details).toMatchObject({ deviceUsPerKernel: 1, launchesPerSecond: 5e5, paced: { submitUs: 3, count: 6 } });
});

it('gives none where the device is as slow as the launches: it would be the rate of the device', async () => {
  const { status, reason } = await measured(2, 1.95);
  expect(status).toBe('invalid');
  expect(reason).toBe(
    'the host is slower than the device: a kernel of a graph takes the device 1.950 us, a launch 2.000 us',
  );
});

it('goes on without graphs, whose kernels show how fast the device is', async () => {
  const { status, details, checks } = await measured(2, null);
  expect(status).toBeUndefined();
  expect(checks[0]).toMatchObject({ passed: 'not checked' });
  const rows = details.rows as { call: string; failed?: string }[];
  expect(rows.find(({ call }) => call === 'cuGraphLaunch')?.failed).toContain('CUDA_ERROR_NOT_SUPPORTED');
});
