/** A layer that reports success for work it does not do gets no number for it. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { environmentSystem } from '../../lib/systems/environment.js';
import { emptyFolder } from './child.js';
import { environment, measured } from './measured.js';

const layer = join(emptyFolder(), 'lazy-layer.so');
beforeAll(() => {
  const source = fileURLToPath(new URL('fixtures/lazy-layer.cpp', import.meta.url));
  execFileSync('c++', ['-std=c++17', '-shared', '-fPIC', '-w', '-o', layer, source, '-ldl']);
});

const under = (lazy: string) => environmentSystem({ ...environment(null), LD_PRELOAD: layer, GVB_TEST_LAZY: lazy });

describe('OH-010 publishes no rate', () => {
  it('under the layer as long as it does everything, but its units', async () => {
    const result = await measured('OH-010', under('cuLaunchKernel=1000000000'));
    expect(result).toMatchObject({ status: 'unsupported', reason: expect.stringMatching(/^needs a native arm/) });
    expect(result.details.unitsPerSecond).toBeGreaterThan(0);
  });

  // A unit launches 66 kernels and copies two factors to the device and three results back.
  it.each([
    [
      'launches are skipped after the first unit',
      'cuLaunchKernel=66',
      /the matrix product: gvb_gemm was launched with/,
    ],
    [
      'launches are skipped after many units',
      'cuLaunchKernel=1000',
      /small kernel \d+ of 64: gvb_mix was launched with/,
    ],
    ['the product is skipped', 'kernel=gvb_gemm', /the matrix product: gvb_gemm was launched with success but wrote/],
    ['the attention is skipped', 'kernel=gvb_attention', /the attention: gvb_attention was launched with success but/],
    [
      'small kernels are skipped',
      'kernel=gvb_mix',
      /small kernel 1 of 64: gvb_mix was launched with success but wrote/,
    ],
    ['nothing is copied to the device', 'cuMemcpyHtoD=20', /the matrix product: cuMemcpyHtoD reported success but its/],
    ['nothing is copied back', 'cuMemcpyDtoH=30', /cuMemcpyDtoH reported success but copied nothing/],
    ['old results are handed out again', 'copies=replay', /it is wrong, or left over from other inputs/],
    [
      'outputs are not cleared and launches skipped',
      'cuMemsetD32=20,cuLaunchKernel=200',
      /it is wrong, or left over from other inputs/,
    ],
    ['blocks are handed out twice', 'memory=same', /memory was handed out twice/],
  ])('where %s', async (_, lazy, reason) => {
    const result = await measured('OH-010', under(lazy));
    expect(result).toMatchObject({ status: 'invalid', value: null, stats: null, details: {} });
    expect(result.reason).toMatch(reason);
    expect(JSON.stringify(result)).not.toContain('unitsPerSecond');
  });

  it('where blocks are made up', async () => {
    const result = await measured('OH-010', under('memory=fake'));
    expect(result).toMatchObject({ status: 'failed', value: null, details: {} });
    expect(result.reason).toMatch(/^cuMemGetAddressRange_v2 returned .* while verifying an allocation/);
  });
});
