/** LLM-002, LLM-005 and LLM-006 under layers that report success without doing the work, and after failing calls. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import type { MetricResult } from '../../lib/results/document.js';
import { interposerLibrary } from '../../lib/native/load.js';
import { emptyFolder, measure, type MeasureFunction, measureRecorded, type Settings } from './child.js';
import type { Recorded } from './record.js';

const MIB = 2 ** 20;
const layer = join(emptyFolder(), 'lazy-layer.so');
beforeAll(() => {
  const source = fileURLToPath(new URL('fixtures/lazy-layer.cpp', import.meta.url));
  execFileSync('c++', ['-std=c++17', '-shared', '-fPIC', '-w', '-o', layer, source, '-ldl']);
});

/** Cheap calls on a small card. */
const card: Settings = { init_ms: 1, context_ms: 1, memory_mib: 1100, vmm_us: 0.1, alloc_us: 0.1, free_us: 0.1 };

async function one(name: MeasureFunction, environment: NodeJS.ProcessEnv = {}, sim: Settings = {}) {
  const [result] = await measure([[name, { iterations: 3 }]], { sim: { ...card, ...sim }, environment });
  return result as MetricResult;
}
/** Measures on a card that is large enough for the memory that the layer keeps. */
const lazily = (name: MeasureFunction, lazy: string) =>
  one(name, { LD_PRELOAD: layer, GVB_TEST_LAZY: lazy }, lazy.endsWith('kept') ? { memory_mib: 140_000 } : {});
const limited = (name: MeasureFunction, interpose: string) =>
  one(name, { LD_PRELOAD: interposerLibrary() ?? '', GVB_INTERPOSE: interpose });

const HONEST = 'cuLaunchKernel=1000000000';

describe('LLM-002', () => {
  it('has a rate under the layer while that does all work', async () =>
    expect(await lazily('measureKvCacheAllocation', HONEST)).toMatchObject({ status: 'ok' }));

  it.each([
    [
      'pages are all the same memory',
      'memory=same',
      /an allocation succeeded without memory of its own: block 1 of \d+/,
    ],
    ['the kernel that writes is skipped', 'kernel=gvb_write_ends', /an allocation succeeded without memory of its own/],
    ['the kernel that reads is skipped', 'kernel=gvb_read_ends', /an allocation succeeded without memory of its own/],
    ['pages are not given back', 'memory=kept', /^memory returned: worst drift of a block/],
  ])('has none where %s', async (_, lazy, reason) => {
    const result = await lazily('measureKvCacheAllocation', lazy);
    expect(result).toMatchObject({ status: 'invalid', value: null, stats: null });
    expect(result.reason).toMatch(reason);
  });

  it('has none where pages are never made accessible', async () => {
    const result = await lazily('measureKvCacheAllocation', 'cuMemSetAccess=100');
    expect(result).toMatchObject({ status: 'failed', value: null });
    expect(result.reason).toMatch(/CUDA_ERROR_ILLEGAL_ADDRESS .* while verifying an allocation/);
  });

  it('is unsupported if half of the memory holds too few pages', async () =>
    expect(await limited('measureKvCacheAllocation', 'quota=20MiB')).toMatchObject({
      status: 'unsupported',
      reason: 'half of 20 MiB holds fewer than 16 pages',
    }));
});

describe('LLM-005', () => {
  interface Refusal {
    api: string;
    outcome: string;
    name: string;
  }
  const refusalsOf = ({ details }: MetricResult) => details.refusals as Refusal[];
  const checkOf = ({ checks }: MetricResult, name: RegExp) => checks.find((check) => name.test(check.name));

  it('has its pairs under the layer while that does all work', async () => {
    const result = await lazily('measureMemoryPool', HONEST);
    expect(result).toMatchObject({ status: 'unsupported', reason: expect.stringMatching(/^needs a native arm/) });
    expect(result.details.pairUs).toBeGreaterThan(0);
    expect(refusalsOf(result).map(({ outcome }) => outcome)).toEqual(['refused', 'refused']);
    expect(checkOf(result, /^the pool is left/)?.passed).toBe(true);
    expect(checkOf(result, /^a request beyond/)?.passed).toBe(true);
    expect(result.violations).toBeUndefined();
  });

  it.each([
    ['pointers are not written', 'kernel=gvb_write_ends', /an allocation succeeded without memory of its own/],
    [
      'the threshold is not put back',
      'cuMemPoolSetAttribute=1',
      /^the pool is left as it was found: its threshold was/,
    ],
    ['nothing is given back to the pool', 'memory=kept', /^the pool is left as it was found: 0 bytes of it were used/],
  ])('has none where %s', async (_, lazy, reason) => {
    const result = await lazily('measureMemoryPool', lazy);
    expect(result).toMatchObject({ status: 'invalid', value: null, details: {} });
    expect(result.reason).toMatch(reason);
  });

  it('flags a refusal with another code', async () => {
    const result = await limited('measureMemoryPool', 'quota=400MiB,refusal=-1');
    expect(refusalsOf(result).map(({ outcome }) => outcome)).toEqual(['wrong_error', 'wrong_error']);
    expect(checkOf(result, /^a request beyond/)).toMatchObject({ passed: false });
    expect(result.violations).toBeUndefined();
  });

  it('reports a granted request beyond the limit as a violation, and frees it', async () => {
    const result = await limited('measureMemoryPool', 'quota=300MiB,ignores=cuMemAllocAsync');
    expect(refusalsOf(result)).toMatchObject([
      { api: 'cuMemAllocAsync', outcome: 'granted' },
      { api: 'cuMemAllocFromPoolAsync', outcome: 'refused' },
    ]);
    expect(result.violations).toEqual([
      { detail: 'cuMemAllocAsync: 556 MiB granted although cuMemGetInfo reports 300 MiB in total' },
    ]);
    expect(checkOf(result, /^the pool is left/)?.passed).toBe(true);
  });

  it('is unsupported if a warm pool would take most of the memory', async () =>
    expect(await limited('measureMemoryPool', `quota=${200 * MIB}`)).toMatchObject({
      status: 'unsupported',
      reason: expect.stringContaining('is more than a quarter of'),
    }));
});

describe('LLM-006', () => {
  it('has a value under the layer while that does all work', async () =>
    expect(await lazily('measureMultiStream', HONEST)).toMatchObject({ status: 'ok' }));

  it.each([
    ['streams do not wait for each other', 'cuStreamWaitEvent=0', /^stage \d of micro-batch \d+ /],
    ['stages are skipped', 'cuLaunchKernel=200', /was launched successfully but did not run/],
    ['all stages are skipped', 'kernel=gvb_stage', /was launched successfully but did not run/],
  ])('has none where %s', async (_, lazy, reason) => {
    const result = await lazily('measureMultiStream', lazy);
    expect(result).toMatchObject({ status: 'invalid', value: null, details: {} });
    expect(result.reason).toMatch(reason);
  });

  it('has none if the host does not wait for the device', async () => {
    const result = await lazily('measureMultiStream', 'cuStreamSynchronize=0');
    expect(result).toMatchObject({ status: 'invalid', value: null });
  });
});

describe('a call that fails leaves nothing behind', () => {
  const PAIRS = [
    ['cuMemAddressReserve', 'cuMemAddressFree'],
    ['cuMemCreate', 'cuMemRelease'],
    ['cuMemMap', 'cuMemUnmap'],
    ['cuMemAlloc_v2', 'cuMemFree_v2'],
    ['cuMemHostAlloc', 'cuMemFreeHost'],
    ['cuStreamCreate', 'cuStreamDestroy_v2'],
    ['cuEventCreate', 'cuEventDestroy_v2'],
    ['cuModuleLoadDataEx', 'cuModuleUnload'],
  ] as const;

  /** Calls that succeeded: the failing one is the last of its name, and is made once. */
  const made = (recorded: Recorded, name: string, failing: string) =>
    recorded.named(name).length - (name === failing ? 1 : 0);

  it.each([
    ['measureKvCacheAllocation', 'cuMemCreate', 300],
    ['measureKvCacheAllocation', 'cuMemMap', 300],
    ['measureKvCacheAllocation', 'cuMemSetAccess', 300],
    ['measureKvCacheAllocation', 'cuMemAllocAsync', 300],
    ['measureMemoryPool', 'cuMemAllocAsync', 10],
    ['measureMultiStream', 'cuMemHostAlloc', 2],
    ['measureMultiStream', 'cuEventCreate', 40],
    ['measureMultiStream', 'cuEventRecord', 90],
    ['measureMultiStream', 'cuLaunchKernel', 90],
  ] as const)('%s: %s, call %i', async (name, call, at) => {
    const requests = [[name, { iterations: 3 }]] as const;
    const { results, recorded } = await measureRecorded(requests, { sim: { ...card, fail: `${call}:2@${at}` } });
    expect(results[0]).toMatchObject({ status: 'failed', reason: expect.stringContaining(call) });
    const counts = PAIRS.map(([take, give]) => [take, made(recorded, take, call), recorded.named(give).length]);
    expect(counts.filter(([, taken, given]) => taken !== given)).toEqual([]);
    // Set and restored.
    expect(recorded.named('cuMemPoolSetAttribute').length % 2).toBe(0);
  });
});
