/** A layer that reports success without doing the work gets no number for it. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import type { System } from '../../lib/systems/system.js';
import { environmentSystem } from '../../lib/systems/process/environment.js';
import type { MetricResult } from '../../lib/results/document.js';
import { onOneProcessor } from '../processors.js';
import { emptyFolder, measure, type MeasureFunction, shortCalls } from './child.js';
import { environment, measured } from './measured.js';

const layer = join(emptyFolder(), 'lazy-layer.so');
beforeAll(() => {
  const source = fileURLToPath(new URL('fixtures/lazy-layer.cpp', import.meta.url));
  execFileSync('c++', ['-std=c++17', '-shared', '-fPIC', '-w', '-o', layer, source, '-ldl']);
});

const under = (lazy: string, sim?: string) =>
  environmentSystem({ ...environment(null, sim), LD_PRELOAD: layer, GVB_TEST_LAZY: lazy });
/** Measured in the calling process. */
async function inChild(name: MeasureFunction, lazy: string, iterations: number): Promise<MetricResult> {
  const layered = { LD_PRELOAD: layer, GVB_TEST_LAZY: lazy };
  const [result] = await measure([[name, { iterations }]], { sim: shortCalls, environment: layered });
  if (!result) throw new Error('unreachable');
  return result;
}

/** A system with a compute limit that the layer only claims. */
const limited = (lazy: string): System => ({
  ...under(lazy),
  capabilities: { ...under(lazy).capabilities, computeLimit: 'softDutyCycle' },
});

describe('OH-010 publishes no rate', () => {
  it('under the layer while that does all work, but its units', async () => {
    const result = await measured('OH-010', under('cuLaunchKernel=1000000000'));
    expect(result).toMatchObject({ status: 'unsupported', reason: expect.stringMatching(/^needs a native arm/) });
    expect(result.details.unitsPerSecond).toBeGreaterThan(0);
    // A check that no layer can fail would be useless: a wrong result ends the measurement.
    expect(result.checks).toEqual([]);
  });

  // A unit launches 66 kernels and copies two factors to the device and three results back.
  it.each([
    [
      'launches are skipped after the first unit',
      'cuLaunchKernel=66',
      /the matrix product: gvb_gemm was launched successfully/,
    ],
    [
      'launches are skipped after three units',
      'cuLaunchKernel=210',
      /small kernel \d+ of 64: gvb_mix was launched successfully/,
    ],
    ['the product is skipped', 'kernel=gvb_gemm', /the matrix product: gvb_gemm was launched successfully but wrote/],
    ['the attention is skipped', 'kernel=gvb_attention', /the attention: gvb_attention was launched successfully but/],
    [
      'small kernels are skipped',
      'kernel=gvb_mix',
      /small kernel 1 of 64: gvb_mix was launched successfully but wrote/,
    ],
    ['nothing is copied to the device', 'cuMemcpyHtoD=8', /the matrix product: cuMemcpyHtoD reported success but its/],
    ['nothing is copied back', 'cuMemcpyDtoH=20', /cuMemcpyDtoH reported success but copied nothing/],
    ['old results are handed out again', 'copies=replay', /it is wrong, or left over from other inputs/],
    [
      'outputs are not cleared and launches skipped',
      'cuMemsetD32=20,cuLaunchKernel=200',
      /it is wrong, or left over from other inputs|did not hold the word written to it/,
    ],
    ['blocks are handed out twice', 'memory=same', /memory was handed out twice/],
  ])('where %s', async (_, lazy, reason) => {
    const result = await measured('OH-010', under(lazy));
    expect(result).toMatchObject({ status: 'invalid', value: null, stats: null, details: {} });
    expect(result.reason).toMatch(reason);
    expect(JSON.stringify(result)).not.toContain('unitsPerSecond');
  });

  it('if blocks are made up', async () => {
    const result = await measured('OH-010', under('memory=fake'));
    expect(result).toMatchObject({ status: 'failed', value: null, details: {} });
    expect(result.reason).toMatch(/^cuMemGetAddressRange_v2 returned .* while verifying an allocation/);
  });
});

describe('launches that did not run', () => {
  const noLatency = it.skipIf(onOneProcessor('OH-001 without its launches, whose host and device have to run at once'));
  noLatency.each(['cuLaunchKernel', 'cuLaunchKernelEx', 'cuGraphLaunch'])('have no latency: %s', async (call) => {
    const result = await inChild('measureKernelLaunch', `${call}=300`, 400);
    const rows = result.details.calls as { call: string }[] | undefined;
    expect(rows ? rows.find((row) => row.call === call) : result).toMatchObject(
      rows
        ? { failed: expect.stringMatching(/succeeded but the kernel did not write its stamp/) }
        : { status: 'invalid', value: null },
    );
  });

  it.skipIf(onOneProcessor('OH-006 without its launches'))('have no windows in OH-006', async () => {
    const result = await measured('OH-006', under('cuLaunchKernel=300'));
    expect(result).toMatchObject({ status: 'invalid', value: null, details: {} });
    expect(result.reason).toMatch(/cuLaunchKernel accepted kernels of \d+ blocks, the device ran \d+/);
  });

  it.each(['cuLaunchKernelEx', 'cuLaunchCooperativeKernel', 'cuGraphLaunch'])(
    'have no row in OH-008: %s',
    async (call) => {
      const result = await measured('OH-008', limited(`${call}=15`), { iterations: 30 });
      const rows = result.details.calls as { call: string; failed?: string; overheadNs?: number }[];
      const row = rows.find((each) => each.call === call);
      expect(row?.failed).toMatch(new RegExp(`${call} accepted kernels of \\d+ blocks, the device ran \\d+`));
      expect(row).not.toHaveProperty('overheadNs');
      expect(rows.find((each) => each.call === 'cuLaunchKernel')).toHaveProperty('overheadNs');
    },
  );

  it('take the headline of OH-008 with them', async () => {
    const result = await measured('OH-008', limited('cuLaunchKernel=15'), { iterations: 30 });
    expect(result).toMatchObject({ status: 'invalid', value: null, details: {} });
    expect(result.reason).toMatch(/cuLaunchKernel accepted kernels of \d+ blocks, the device ran \d+/);
  });

  it.each([
    ['cuMemsetD8Async', 'cuMemsetD8Async', 'filled nothing'],
    ['cuMemcpyDtoHAsync', 'cuMemcpyDtoHAsync_v2', 'copied nothing'],
    ['cuGraphExecKernelNodeSetParams', 'cuGraphExecKernelNodeSetParams_v2', 'set no parameters'],
  ])('have no row in OH-005 if they are no launches: %s', async (call, name, did) => {
    const result = await inChild('measureApiInterception', `${call}=100`, 10);
    const { functions, missing } = result.details as Record<string, { name: string; failed?: string }[]>;
    expect(functions?.map((row) => row.name)).not.toContain(name);
    expect(missing?.find((row) => row.name === name)?.failed).toBe(
      `a call reported success without doing its work: ${name} ${did}.`,
    );
  });

  it('have no row in OH-005', async () => {
    const result = await inChild('measureApiInterception', 'cuLaunchKernel=100', 10);
    const { functions, missing } = result.details as Record<string, { name: string; failed?: string }[]>;
    expect(functions?.map(({ name }) => name)).not.toContain('cuLaunchKernel');
    expect(missing?.find(({ name }) => name === 'cuLaunchKernel')?.failed).toMatch(
      /cuLaunchKernel accepted kernels of \d+ blocks, the device ran \d+/,
    );
  });
});

describe('START-005 has no time', () => {
  const nvmlLayer = join(emptyFolder(), 'nvml-layer.so');
  beforeAll(() => {
    const source = fileURLToPath(new URL('fixtures/nvml-layer.c', import.meta.url));
    execFileSync('cc', ['-shared', '-fPIC', '-w', '-o', nvmlLayer, source, '-ldl']);
  });

  it.each(['nvmlDeviceGetName', 'nvmlDeviceGetMemoryInfo', 'nvmlDeviceGetPciInfo_v3'])(
    'if %s answers nothing',
    async (name) => {
      const system = environmentSystem({ ...environment(null), LD_PRELOAD: nvmlLayer, GVB_TEST_SILENT: name });
      const result = await measured('START-005', system);
      expect(result).toMatchObject({ status: 'invalid', value: null, stats: null, details: {} });
      expect(result.reason).toBe(`a call reported success without doing its work: ${name} answered nothing.`);
    },
  );
});

describe('memory that does not exist', () => {
  const FUNCTIONS = ['measureMemoryAllocation', 'measureMemoryFree', 'measureMemoryTracking'] as const;

  it.each(FUNCTIONS)('has no latency in %s if a block is handed out twice', async (name) => {
    const result = await inChild(name, 'memory=same', 20);
    expect(result).toMatchObject({ status: 'invalid', value: null });
    expect(result.reason).toMatch(/memory was handed out twice/);
  });

  it.each(FUNCTIONS.slice(0, 2))('has no latency in %s if blocks are made up', async (name) => {
    const result = await inChild(name, 'memory=fake', 20);
    expect(result).toMatchObject({ status: 'failed', value: null });
    expect(result.reason).toMatch(/^cuMemGetAddressRange_v2 returned /);
  });

  const windows = it.skipIf(onOneProcessor('OH-006 without its allocations'));
  windows.each([
    ['where every allocation is the same block', 'memory=same', 'invalid', /memory was handed out twice/],
    [
      'where blocks are made up',
      'memory=fake',
      'failed',
      /^cuMemGetAddressRange_v2 returned .* verifying an allocation/,
    ],
    [
      'where blocks are made up once the window has begun',
      'memory=fake,real=40',
      'failed',
      /^cuMemGetAddressRange_v2 returned .* verifying an allocation/,
    ],
    ['where nothing is freed', 'memory=kept', 'invalid', /^memory returned: worst drift of a block/],
  ])('has no window in OH-006 %s', async (_, lazy, status, reason) => {
    const result = await measured('OH-006', under(lazy, 'memory_mib=10000000'));
    expect(result).toMatchObject({ status, value: null, stats: null });
    expect(result.reason).toMatch(reason);
  });

  windows('has windows in OH-006 as long as the layer does everything, verified and returned', async () => {
    const result = await measured('OH-006', under('cuLaunchKernel=1000000000'));
    const rows = result.details.rows as { operation: string; verified?: number }[];
    for (const { operation, verified } of rows)
      if (operation === 'allocFree') expect(verified).toBeGreaterThanOrEqual(2);
      else expect(verified).toBeUndefined();
    expect(result.checks).toContainEqual(expect.objectContaining({ name: 'memory returned', passed: true }));
  });

  it.each(FUNCTIONS.slice(1))('has no %s if nothing is freed', async (name) => {
    const result = await inChild(name, 'memory=kept', 20);
    expect(result).toMatchObject({ status: 'invalid', value: null });
    // Which of two true reasons comes first depends on how the calls' times fall.
    expect(result.reason).toMatch(/^(memory not returned|most calls are answered without the driver)/);
    expect(result.checks).toContainEqual(expect.objectContaining({ name: 'memory returned', passed: false }));
  });
});
