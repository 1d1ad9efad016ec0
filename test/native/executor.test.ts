/** The executor with callers that abort, use threads, die and exit. */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { metrics } from '../../lib/metrics/registry.js';
import type { MetricResult } from '../../lib/results/document.js';
import { addonFile, attempt, scenario, script, simulatedFolder } from './child.js';
import { temporaryFolder } from '../temporary.js';
import { expectAllocation, sim } from './executor.js';

const addon = { GVB_TEST_ADDON: addonFile };

describe('abort', () => {
  it('before the call rejects every function with its reason, of any type, and loads nothing', async () => {
    const { names, sameReason, addonLoaded } = await scenario<{
      names: string[];
      sameReason: boolean[];
      addonLoaded: boolean;
    }>('abortBefore');
    expect(names).toHaveLength(metrics.length);
    expect(sameReason).toEqual(names.map(() => true));
    expect(addonLoaded).toBe(false);
  });

  it('while waiting for its turn rejects at once, and the next caller gets the turn', async () => {
    const seen = await scenario<{
      sameReason: boolean;
      progress: number;
      first: string;
      third: MetricResult;
      order: string[];
    }>('abortWhileWaiting', { sim });
    expect(seen).toMatchObject({ sameReason: true, progress: 0 });
    expect(seen.order).toEqual(['second rejected', 'first measured']);
    expectAllocation(seen.third);
  });
});

it('measurements from several worker_threads are all correct', async () => {
  const results = await scenario<MetricResult[]>('threads', { sim });
  expect(results).toHaveLength(4);
  results.forEach(expectAllocation);
});

describe('a worker_thread that ends', () => {
  it.each([
    ['while it measures', 'terminateMidway'],
    ['while it opens its session', 'terminateWhileOpening'],
    ['while it waits for its turn', 'terminateWhileWaiting'],
  ])('%s does not affect the process or the others', async (_, name) => {
    const settings = { ...sim, context_ms: 200 };
    const seen = await scenario<Record<'before' | 'mine' | 'other', MetricResult | undefined>>(name, {
      sim: settings,
    });
    const results = [seen.before, seen.mine, seen.other].filter((result) => result !== undefined);
    expect(results.length).toBeGreaterThanOrEqual(1);
    results.forEach(expectAllocation);
  });

  it('while others start leaves them a working executor, every time', async () =>
    expect(
      await scenario<number>('threadsComeAndGo', {
        sim: { init_ms: 0, context_ms: 0 },
        environment: { ...addon, GVB_TEST_DRIVER: simulatedFolder },
      }),
    ).toBe(90));

  it('by process.exit keeps its code', async () => {
    const { code, mine } = await scenario<{ code: number; mine: MetricResult }>('exitInThread', { sim });
    expect(code).toBe(5);
    expectAllocation(mine);
  });
});

describe('the end of the process', () => {
  it.each(['exitWhileOpening', 'exitWithThreads', 'exitAmongCalls'])('%s: keeps the exit code', async (name) => {
    const { code, signal, stderr } = await script('scenarios.mjs', [name], {
      sim: { ...sim, context_ms: 200 },
      environment: addon,
    });
    expect({ code, signal, stderr }).toEqual({ code: 7, signal: null, stderr: '' });
  });

  it('waits for a measurement that no code awaits', async () => {
    expectAllocation(await scenario<MetricResult>('naturalExit', { sim }));
  });
});

it('the addon loads repeatedly, here and in many worker_threads', async () => {
  const { here, others, rounds } = await scenario<{ here: number; others: number; rounds: number[] }>('loads', {
    environment: addon,
  });
  expect(here).toBeGreaterThanOrEqual(25);
  expect(others).toBeLessThanOrEqual(50);
  expect(rounds).toEqual(Array.from({ length: 32 }, () => here));
});

it('two copies of the addon measure one after the other', async () => {
  const copy = join(temporaryFolder('copy'), 'other.node');
  copyFileSync(addonFile, copy);
  const environment = { ...addon, GVB_TEST_COPY: copy, GVB_TEST_DRIVER: simulatedFolder };
  expect(await scenario('twoCopies', { sim, environment })).toEqual({
    meanwhile: { isOpen: false, devices: 1 },
    isOpen: true,
  });
});

it('a monitor belongs to the thread that started it', async () => {
  const environment = { ...addon, GVB_TEST_DRIVER: simulatedFolder };
  const { seen, taken } = await scenario<{ seen: unknown; taken: number }>('monitorOfAnother', { sim, environment });
  expect(seen).toEqual({ taken: 0, message: 'there is no such monitor' });
  expect(taken).toBeGreaterThan(0);
});

describe('a lost device', () => {
  it('in one measurement is reported in the next one too', async () => {
    const answers = await attempt(
      [
        ['measureMemoryAllocation', { iterations: 100 }],
        ['measureMemoryAllocation', { iterations: 100 }],
      ],
      { sim: { ...sim, fail: 'cuMemAlloc_v2:999@300' } },
    );
    for (const { result } of answers)
      expect(result).toMatchObject({
        status: 'failed',
        reason: 'cuMemAlloc_v2 returned CUDA_ERROR_UNKNOWN (999) while allocating device memory.',
        value: null,
      });
  });

  it.each([
    ['cuInit:100@1', 100, 'cuInit', ' The driver sees no GPU: nvidia-smi -L'],
    ['cuDevicePrimaryCtxRetain:2@1', 2, 'cuDevicePrimaryCtxRetain', ''],
  ])('before anything is measured (%s) rejects with the call', async (fail, code, call, advice) => {
    const [answer] = await attempt([['measureKernelLaunch']], { sim: { ...sim, fail } });
    expect(answer?.error).toMatchObject({ code, call });
    expect(answer?.error?.message).toMatch(
      new RegExp(`^\\w+ returned CUDA_ERROR_\\w+ \\(\\d+\\) while [^.]*\\.${advice}$`),
    );
  });
});

it('fifty measurements leak no memory, mapping, file or thread', async () => {
  const [tenth, last] = await scenario<Record<'rss' | 'maps' | 'files' | 'threads', number>[]>('manyMeasurements', {
    sim: { ...sim, context_ms: 1, alloc_us: 2, free_us: 2, vmm_us: 2 },
    // V8 would enlarge its young generation by 8 MiB at some moment of its own.
    nodeOptions: ['--expose-gc', '--max-semi-space-size=1'],
  });
  if (!tenth || !last) throw new Error('unreachable');
  // Forty more measurements: leaks would add up. The rest is due to the garbage collector.
  expect(last.rss / tenth.rss).toBeLessThan(1.1);
  expect(last.maps / tenth.maps).toBeLessThan(1.1);
  expect(last.files).toBe(tenth.files);
  expect(last.threads).toBe(tenth.threads);
});
