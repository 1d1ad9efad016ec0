/** START-001 … START-006 with missing parts, failures and aborts. */
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import type { MetricResult } from '../../lib/results/document.js';
import type { MeasureOptions } from '../../lib/metrics/core/metric.js';
import { measureMetric } from '../../lib/metrics/core/measure.js';
import { environmentSystem } from '../../lib/systems/process/environment.js';
import { SOLE_TENANT, type System, type Tenant } from '../../lib/systems/system.js';
import { processesOf, workersOf } from '../cli/command.js';
import { metricNamed } from '../metric-named.js';
import { onOneProcessor } from '../processors.js';
import { ownRegion } from '../temporary.js';
import { undisturbed } from '../undisturbed.js';
import { type ChildOptions, emptyFolder, measure, type MeasureFunction } from './child.js';

async function one(name: MeasureFunction, options: object, child: ChildOptions): Promise<MetricResult> {
  const [result] = await undisturbed(
    () => measure([[name, options]], child),
    (results) => results,
  );
  if (!result) throw new Error('unreachable');
  return result;
}

const oneProcessor = onOneProcessor('START-006, whose starts cannot be concurrent there');
const sim = { init_ms: 23, context_ms: 11, module_ms: 7, alloc_us: 3000 };

describe('a start that cannot be as planned', () => {
  it('leaves START-004 without a warm row if the environment disables the cache', async () => {
    const environment = { CUDA_CACHE_DISABLE: '1' };
    const result = await one('measureModuleLoad', { iterations: 1 }, { sim: { ...sim, module_ms: 19 }, environment });
    expect(result).toMatchObject({ status: 'ok' });
    expect(result.value).toBeGreaterThanOrEqual(19);
    expect((result.details.loads as object[])[1]).toEqual({
      cache: 'warm',
      unsupported: 'CUDA_CACHE_DISABLE=1 in the environment',
    });
  });

  it.skipIf(oneProcessor)('reduces START-006 to as many processes as memory allows', async () => {
    const room = { init_ms: 40, context_ms: 5, memory_mib: 900, context_mib: 150 };
    const result = await one('measureConcurrentStarts', {}, { sim: room });
    expect(result).toMatchObject({
      status: 'ok',
      processes: 5,
      details: { largest: 5, capacity: { processes: 5, limitedBy: 'GPU memory', gpuBytesEach: 150 * 2 ** 20 } },
    });
  });
});

describe('START-004 in a round that plans its processes', () => {
  const loads = async (options: MeasureOptions) => {
    const system = environmentSystem({
      PATH: process.env.PATH,
      HOME: emptyFolder(),
      GVB_SIM: `region=${ownRegion('planned')},init_ms=8,context_ms=8`,
    });
    const result = await measureMetric(
      metricNamed('START-004'),
      { simulate: true, ...options },
      { system, plannedProcesses: 5 },
    );
    const counts = (result.details.loads as { count: number }[]).map(({ count }) => count);
    return { status: result.status, processes: result.processes, counts };
  };

  it('starts so many, with the cache of its own number of them loaded again', async () =>
    expect(await loads({ tier: 'quick' })).toEqual({ status: 'ok', processes: 5, counts: [5, 3] }));

  it('starts as many as were asked for', async () =>
    expect(await loads({ iterations: 2 })).toEqual({ status: 'ok', processes: 2, counts: [2, 2] }));
});

const ALL = [
  'measureColdStart',
  'measureDriverInitialisation',
  'measurePrimaryContext',
  'measureModuleLoad',
  'measureConcurrentStarts',
] as const;

describe('a start that fails', () => {
  it.each(ALL)('makes %s failed, with the code of the driver', async (name) => {
    const result = await one(name, { iterations: 1 }, { sim: { ...sim, fail: 'cuDevicePrimaryCtxRetain:719@1' } });
    expect(result).toMatchObject({
      status: 'failed',
      value: null,
      stats: null,
      reason: expect.stringMatching(/^cuDevicePrimaryCtxRetain returned CUDA_ERROR_LAUNCH_FAILED \(719\)/),
    });
  });

  it('makes GPU discovery failed, with the code of NVML', async () => {
    const result = await one('measureGpuDiscovery', {}, { sim: { fail: 'nvmlDeviceGetMemoryInfo:999@1' } });
    expect(result).toMatchObject({
      status: 'failed',
      value: null,
      reason: expect.stringMatching(/^nvmlDeviceGetMemoryInfo returned Unknown Error \(999\)/),
    });
  });
});

describe('in this process', () => {
  const mark = randomUUID();
  const region = `start-${mark.slice(0, 13)}`;
  afterEach(() => rmSync(`/dev/shm/gvb-sim-${process.getuid?.()}-${region}`, { force: true }));

  const environment = (settings: string) => ({
    PATH: process.env.PATH,
    HOME: emptyFolder(),
    GVB_TEST_MARK: mark,
    GVB_SIM: `region=${region},${settings}`,
  });

  async function measureHere(id: string, options: MeasureOptions, system: System) {
    return measureMetric(metricNamed(id), { simulate: true, ...options }, { system });
  }

  it.each([['START-001', 1], ['START-004', 1], ...(oneProcessor ? [] : [['START-006', 5] as const])] as const)(
    'an abort of %s ends every process it started',
    async (id, fewest) => {
      const controller = new AbortController();
      const system = environmentSystem(environment('init_ms=800,context_ms=300'));
      const measuring = measureHere(id, { signal: controller.signal }, system);
      const ended = expect(measuring).rejects.toThrow('enough');
      // If too few start, this promise is not awaited.
      ended.catch(() => {});
      await expect.poll(() => workersOf(mark).length, { interval: 5 }).toBeGreaterThanOrEqual(fewest);
      controller.abort(new Error('enough'));
      await ended;
      await expect.poll(() => processesOf(mark)).toEqual([]);
    },
  );

  it.skipIf(oneProcessor)(
    'START-006 says how many had no room, where contexts together take more than one alone showed',
    async () => {
      const [small, large] = ['context_mib=10', 'memory_mib=900,context_mib=150'].map(environment);
      const given: number[] = [];
      const system = {
        ...environmentSystem(small),
        environment: (tenant = SOLE_TENANT) => (tenant.id === SOLE_TENANT.id ? small : large) ?? {},
        reap: ({ id }: Tenant) => Promise.resolve(void given.push(id)),
      };
      const result = await measureHere('START-006', { iterations: 1 }, system);
      expect(result).toMatchObject({ status: 'failed', value: null, stats: null });
      const reason = /^\d of 10 starts failed: cuDevicePrimaryCtxRetain returned CUDA_ERROR_OUT_OF_MEMORY \(2\)/;
      expect(result.reason).toMatch(reason);
      expect(result.details.starts).toMatchObject([{ processes: 1 }, { processes: 10, failed: result.reason }]);
      expect(given).toEqual([1]);
    },
  );
});
