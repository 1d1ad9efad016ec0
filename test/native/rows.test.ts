/**
 * A row that cannot be measured has a reason and does not affect the others; unproven values are not published in any
 * form.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { emptyFolder, type MeasureFunction, measure, simulatedFolder } from './child.js';
import { undisturbed } from '../undisturbed.js';

const quick = { init_ms: 1, context_ms: 1, alloc_us: 5, free_us: 5, vmm_us: 5 };
type Rows = { name?: string; api?: string; call?: string; failed?: string }[];

async function one(metric: MeasureFunction, fail: string, options: object = { iterations: 20 }) {
  const [result] = await undisturbed(
    () => measure([[metric, options]], { sim: { ...quick, fail } }),
    (results) => results,
  );
  if (!result) throw new Error('unreachable');
  return result;
}

describe('a call that fails in one row', () => {
  it('leaves the other functions of OH-005', async () => {
    const result = await one('measureApiInterception', 'cuStreamGetId:801@1');
    expect(result.status).toBe('ok');
    const missing = result.details.missing as Rows;
    expect(missing).toEqual([{ name: 'cuStreamGetId', failed: expect.stringContaining('CUDA_ERROR_NOT_SUPPORTED') }]);
    expect((result.details.functions as Rows).length).toBeGreaterThan(35);
  });

  it('names the call that failed in a virtual-memory row of OH-002, and leaks nothing', async () => {
    const result = await one('measureMemoryAllocation', 'cuMemSetAccess:801@1');
    expect(result.status).toBe('ok');
    const row = (result.details.sizes as Rows).find(({ api }) => api === 'cuMemCreate');
    expect(row?.failed).toMatch(/^cuMemSetAccess returned/);
  });

  it('leaves OH-004 when only cuCtxCreate fails', async () => {
    const result = await one('measureContextCreation', 'cuCtxCreate_v2:101@1', { iterations: 2 });
    expect(result.details.cuCtxCreate).toEqual({ processes: 1, failed: expect.stringContaining('cuCtxCreate_v2') });
    expect(result.processes).toBe(2);
  });
});

describe('a layer that hands out another ABI of a function', () => {
  it('leaves that function out by name, and never calls through it', async () => {
    const source = fileURLToPath(new URL('fixtures/other-abi.c', import.meta.url));
    const library = join(emptyFolder(), 'other-abi.so');
    execFileSync('cc', ['-shared', '-fPIC', '-w', '-o', library, source, '-ldl']);
    const [result] = await measure([['measureContextCreation', { iterations: 2 }]], {
      sim: { init_ms: 8, context_ms: 8 },
      environment: { LD_PRELOAD: library },
    });
    expect(result?.status).toBe('ok');
    expect(result?.details.cuCtxCreate).toEqual({
      processes: 1,
      unsupported: `cuCtxCreate_v2 is not given out by ${library} on the runtime path, though the driver has it: use a version of ${library} that passes it on, or measure without it.`,
    });
  });
});

describe('a result that is not ok', () => {
  it('carries neither value nor samples nor statistics', async () => {
    const library = join(emptyFolder(), 'early-layer.so');
    const source = fileURLToPath(new URL('fixtures/early-layer.c', import.meta.url));
    execFileSync('cc', ['-shared', '-fPIC', '-w', '-o', library, source, '-ldl']);
    const [result] = await measure([['measureContextCreation', { iterations: 2, samples: true }]], {
      sim: { init_ms: 8, context_ms: 8 },
      environment: {
        LD_PRELOAD: library,
        GVB_TEST_EARLY: 'load',
        GVB_TEST_LIBCUDA: join(simulatedFolder, 'libcuda.so.1'),
      },
    });
    expect(result).toMatchObject({ status: 'invalid', value: null, ci95: null, stats: null });
    expect(result?.reason).toMatch(/^the driver was initialised before cuInit /);
    expect(result).not.toHaveProperty('samples');
    expect(result).not.toHaveProperty('blocks');
  });
});
