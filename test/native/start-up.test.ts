/** START-001 … START-006 recover what starting costs on the simulated GPU, and say what fails. */
import { randomUUID } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import type { MetricResult } from '../../lib/document.js';
import type { MeasureOptions } from '../../lib/metrics/metric.js';
import type * as metricsMeasure from '../../lib/metrics/measure.js';
import type * as metricsRegistry from '../../lib/metrics/registry.js';
import { interposerLibrary } from '../../lib/native/load.js';
import { environmentSystem } from '../../lib/systems/environment.js';
import type { System, Tenant } from '../../lib/systems/system.js';
import { processesOf, workersOf } from '../cli/command.js';
import { type ChildOptions, emptyFolder, measure, type MeasureFunction } from './child.js';
import { type Estimate, expectRecovered } from './recovered.js';

interface Row {
  valueMs: number;
  ci95: [number, number] | null;
  count: number;
}
type StepRow = Row & { step: string };
interface StartsRow {
  processes: number;
  releases?: number;
  meanMs?: number;
  p99Ms?: number | null;
}
interface Slope {
  msPerProcess: number;
  ci95: [number, number] | null;
}

const ofMs = ({ valueMs, ci95 }: Row): Estimate => ({ value: valueMs, ci95 });
const ofSlope = ({ msPerProcess, ci95 }: Slope): Estimate => ({ value: msPerProcess, ci95 });
const stepOf = (result: MetricResult, name: string): Row =>
  (result.details.steps as StepRow[]).find(({ step }) => step === name) as Row;

/** So many that six starts on a busy core are outside the interval at either end. */
const MANY = { iterations: 24 };
const MS = { tolerance: 1, resolution: 3 };
/** Of NVML's calls, which are shorter. */
const SHORT = { tolerance: 0.1, resolution: 0.3 };

async function one(name: MeasureFunction, options: object, child: ChildOptions): Promise<MetricResult> {
  const [result] = await measure([[name, options]], child);
  if (!result) throw new Error('unreachable');
  return result;
}

const sim = { init_ms: 23, context_ms: 11, module_ms: 7, alloc_us: 3000 };

describe('START-001', () => {
  it('is the whole from spawn to result, and its steps are the parts of it', async () => {
    const result = await one('measureColdStart', { ...MANY, samples: true }, { sim });
    expect(result).toMatchObject({ id: 'START-001', status: 'ok', unit: 'ms', processes: 24 });
    const steps = result.details.steps as StepRow[];
    const parts = steps.filter(({ step }) => step !== 'secondLaunch').reduce((sum, { valueMs }) => sum + valueMs, 0);
    const between = (result.details.betweenSteps as Row).valueMs;
    // Medians do not add up exactly.
    expect(Math.abs((result.value as number) - parts - between)).toBeLessThan(20);
    expect(between).toBeGreaterThan(0);
    expect(between).toBeLessThan(0.5 * (result.value as number));
    expect(Math.min(...(result.samples as number[]))).toBeGreaterThan(sim.init_ms + sim.context_ms + sim.module_ms);
    expectRecovered([
      ['cuInit', ofMs(stepOf(result, 'init')), { truth: sim.init_ms, ...MS }],
      ['context', ofMs(stepOf(result, 'context')), { truth: sim.context_ms, ...MS }],
      ['module', ofMs(stepOf(result, 'module')), { truth: sim.module_ms, ...MS }],
      ['first allocation', ofMs(stepOf(result, 'firstAlloc')), { truth: 3, ...MS }],
    ]);
    expect(steps.map(({ step }) => step)).toEqual([
      'spawnToMain',
      'addonLoad',
      'load',
      'resolve',
      'init',
      'device',
      'context',
      'module',
      'firstAlloc',
      'firstLaunch',
      'secondLaunch',
    ]);
  });
});

describe.each([
  ['START-002', 'measureDriverInitialisation', 'init_ms', 'cuInit=+20ms', 20],
  ['START-003', 'measurePrimaryContext', 'context_ms', 'cuDevicePrimaryCtxRetain=+15ms', 15],
] as const)('%s', (id, name, setting, injected, injectedMs) => {
  it(`recovers ${setting}`, async () => {
    const result = await one(name, MANY, { sim });
    expect(result).toMatchObject({ id, status: 'ok', details: { context: { function: 'cuDevicePrimaryCtxRetain' } } });
    expectRecovered([[setting, result, { truth: sim[setting], ...MS }]]);
    if (id === 'START-003') expect((result.details.release as Row).count).toBe(24);
  });

  it(`recovers ${injected} of a layer, and says whose context it was`, async () => {
    const library = interposerLibrary() ?? '';
    const environment = { LD_PRELOAD: library, GVB_INTERPOSE: 'cuInit=+20ms,cuDevicePrimaryCtxRetain=+15ms' };
    const result = await one(name, MANY, { sim, environment });
    expectRecovered([[injected, result, { truth: sim[setting] + injectedMs, ...MS }]]);
    expect(result.details.context).toMatchObject({ owner: library });
  });
});

describe('START-004', () => {
  const settings = { ...sim, module_ms: 19, module_cached_ms: 4 };
  const folders = () => readdirSync(tmpdir()).filter((name) => /^gvb-[A-Za-z0-9]{6}$/.test(name));

  it('recovers the cold and the warm load, and leaves no cache behind', async () => {
    const before = new Set(folders());
    const result = await one('measureModuleLoad', MANY, { sim: settings });
    const [cold, warm] = result.details.loads as (Row & { cache: string })[];
    expect([cold?.cache, warm?.cache, result.status]).toEqual(['cold', 'warm', 'ok']);
    expectRecovered([
      ['headline', result, { truth: 19, ...MS }],
      ['cold', ofMs(cold as Row), { truth: 19, ...MS }],
      ['warm', ofMs(warm as Row), { truth: 4, ...MS }],
    ]);
    // Another run on this machine may hold one of its own for a moment.
    await expect.poll(() => folders().filter((name) => !before.has(name)), { timeout: 10_000 }).toEqual([]);
  });

  it('has no warm row where the environment switches the cache off', async () => {
    const environment = { CUDA_CACHE_DISABLE: '1' };
    const result = await one('measureModuleLoad', { iterations: 1 }, { sim: settings, environment });
    expect(result).toMatchObject({ status: 'ok', });
    expect(result.value).toBeGreaterThanOrEqual(19);
    expect((result.details.loads as object[])[1]).toEqual({
      cache: 'warm',
      unsupported: 'CUDA_CACHE_DISABLE=1 in the environment',
    });
  });
});

describe('START-005', () => {
  interface Details {
    steps: StepRow[];
    warm: { totalMs: { count: number; p99: number | null; p999: number | null }; steps: StepRow[] };
    nvml: { path: string; owner: string; functions: { name: string; intercepted: boolean }[] };
  }

  it('recovers nvml_us in every step, cold and warm', async () => {
    const result = await one('measureGpuDiscovery', MANY, { sim: { nvml_us: 400 } });
    const { steps, warm, nvml } = result.details as unknown as Details;
    expect(steps).toHaveLength(8);
    expectRecovered([
      ['headline', result, { truth: 8 * 0.4, tolerance: 0.5, resolution: 2 }],
      ...steps.map((row) => [`cold ${row.step}`, ofMs(row), { truth: 0.4, ...SHORT }] as const),
      ...warm.steps.map((row) => [`warm ${row.step}`, ofMs(row), { truth: 0.4, ...SHORT }] as const),
    ]);
    expect(warm.totalMs).toMatchObject({ count: 2400, p99: expect.any(Number), p999: null });
    expect(nvml).toMatchObject({ path: 'dlsym', function: 'nvmlInit_v2' });
    expect(nvml.owner).toMatch(/libnvidia-ml\.so\.1$/);
    expect(nvml.functions.filter(({ intercepted }) => intercepted)).toEqual([]);
  });

  it('asks every GPU', async () => {
    const result = await one('measureGpuDiscovery', { iterations: 1 }, { sim: { nvml_us: 300, devices: 3 } });
    expect(result).toMatchObject({ status: 'ok', details: { gpus: 3 } });
    const { warm } = result.details as unknown as Details;
    const truthOf = ({ step }: StepRow) => (/Init|Count/.test(step) ? 0.3 : 0.9);
    expectRecovered(
      warm.steps.map((row) => [row.step, ofMs(row), { truth: truthOf(row), tolerance: 0.1, resolution: 0.3 }] as const),
    );
  });
});

describe('START-006', () => {
  const alone = { init_ms: 40, context_ms: 5, context_mib: 100 };
  const slopesOf = (result: MetricResult) => result.details.slopes as { mean: Slope; total: Slope };

  it('finds starts that wait for one another', async () => {
    const result = await one('measureConcurrentStarts', { iterations: 2 }, { sim: { ...alone, init_lock: 1 } });
    const slopes = slopesOf(result);
    // The last of n waits for all the others, one in the middle for half of them.
    expectRecovered([
      ['total', ofSlope(slopes.total), { truth: alone.init_ms, tolerance: 3, resolution: 5 }],
      ['mean', ofSlope(slopes.mean), { truth: alone.init_ms / 2, tolerance: 3, resolution: 5 }],
    ]);
    expect(result).toMatchObject({ status: 'ok', processes: 20, details: { largest: 10, topology: 'shared' } });
    const rows = result.details.starts as StartsRow[];
    expect(rows.map(({ processes, releases }) => [processes, releases])).toEqual([
      [1, 2],
      [10, 2],
    ]);
    expect(result.value).toBe(rows[1]?.meanMs);
    expect(rows[1]?.p99Ms).toBeNull();
  });

  it('finds starts that do not', async () => {
    const result = await one('measureConcurrentStarts', { iterations: 2 }, { sim: alone });
    // What ten starts themselves compute on few cores remains.
    expect(Math.abs(slopesOf(result).total.msPerProcess)).toBeLessThan(0.2 * alone.init_ms);
    expectRecovered([['mean of ten', result, { truth: 45 + 5, tolerance: 25, resolution: 40 }]]);
  });

  it('starts as many as memory allows', async () => {
    const room = { ...alone, memory_mib: 900, context_mib: 150 };
    const result = await one('measureConcurrentStarts', {}, { sim: room });
    expect(result).toMatchObject({
      status: 'ok',
      processes: 5,
      details: { largest: 5, capacity: { processes: 5, limitedBy: 'GPU memory', gpuBytesEach: 150 * 2 ** 20 } },
    });
  });
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
  const built = (file: string) => fileURLToPath(new URL(`../../dist/metrics/${file}`, import.meta.url));
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
    const { measureMetric } = (await import(built('measure.js'))) as typeof metricsMeasure;
    const { findMetric } = (await import(built('registry.js'))) as typeof metricsRegistry;
    const definition = findMetric(id);
    if (!definition) throw new Error('unreachable');
    return measureMetric(definition, { simulate: true, ...options }, { system });
  }

  it.each([
    ['START-001', 1],
    ['START-004', 1],
    ['START-006', 5],
  ])('an abort of %s ends every process it started', async (id, fewest) => {
    const controller = new AbortController();
    const system = environmentSystem(environment('init_ms=300,context_ms=300'));
    const measuring = measureHere(id, { signal: controller.signal }, system);
    const ended = expect(measuring).rejects.toThrow('enough');
    await expect.poll(() => workersOf(mark).length, { timeout: 20_000, interval: 5 }).toBeGreaterThanOrEqual(fewest);
    controller.abort(new Error('enough'));
    await ended;
    await expect.poll(() => processesOf(mark), { timeout: 10_000 }).toEqual([]);
  });

  it('START-006 says how many had no room, where contexts together take more than one alone showed', async () => {
    const [small, large] = ['context_mib=10', 'memory_mib=900,context_mib=150'].map(environment);
    const given: number[] = [];
    const system = {
      ...environmentSystem(small),
      environment: (tenant?: Tenant) => (tenant ? large : small) ?? {},
      reap: ({ id }: Tenant) => Promise.resolve(void given.push(id)),
    };
    const result = await measureHere('START-006', { iterations: 1 }, system);
    expect(result).toMatchObject({ status: 'failed', value: null, stats: null });
    const reason = /^\d of 10 starts failed: cuDevicePrimaryCtxRetain returned CUDA_ERROR_OUT_OF_MEMORY \(2\)/;
    expect(result.reason).toMatch(reason);
    expect(result.details.starts).toMatchObject([{ processes: 1 }, { processes: 10, failed: result.reason }]);
    expect(given).toEqual([1]);
  });
});
