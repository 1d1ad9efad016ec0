/** LLM-001: which shapes a tier measures, and which results are refused. */
import { describe, expect, it } from 'vitest';
import type { AttentionRate } from '../../../lib/native/addon-types.js';
import type { MetricResult } from '../../../lib/results/document.js';
import { accountingCheck, besideNative, shapesOf } from '../../../lib/metrics/llm/llm-001-attention.js';

const FLOPS = 1e12;

const rate = (tflops: number, card: Partial<AttentionRate> = {}): AttentionRate => ({
  variant: 'mma.sync sm_80',
  computeCapability: '9.0',
  multiprocessors: 132,
  batch: 1,
  launchFlops: FLOPS,
  launchBytes: 1,
  launchNs: [FLOPS / tflops / 1e3],
  launches: 20,
  smClockMhz: 1_980,
  sampledRows: 64,
  worstError: 0,
  checksum: '',
  ...card,
});

describe('FLOP accounting', () => {
  const rtx3080 = { computeCapability: '8.6', multiprocessors: 68, smClockMhz: 1_710 };

  it.each([2_400, 9_191])('refuses the %i TFLOPS published for an RTX 3080', (tflops) => {
    const check = accountingCheck([rate(100, rtx3080), rate(tflops, rtx3080)]);
    expect(check).toMatchObject({ name: 'FLOP accounting', passed: false });
    expect(check.detail).toBe(`${tflops} TFLOPS, but at its clock the GPU cannot exceed 119`);
  });

  it('computes the ceiling from the clock under load', () => {
    const of = (tflops: number, smClockMhz: number) => accountingCheck([rate(tflops, { smClockMhz })]).passed;
    // An H200's nominal 989 TFLOPS are at 1830 MHz.
    expect(of(1_060, 1_980)).toBe(true);
    expect(of(1_060, 1_400)).toBe(false);
  });

  it('reports an unknown ceiling', () => {
    for (const unknown of [{ computeCapability: '12.1' }, { smClockMhz: null }])
      expect(accountingCheck([rate(9_191, unknown)]).passed).toBe('not checked');
  });
});

it('measures more shapes at each tier, and the headline first', () => {
  const [quick, standard, thorough] = (['quick', 'standard', 'thorough'] as const).map(shapesOf);
  for (const shapes of [quick, standard, thorough]) {
    expect(shapes?.[0]).toEqual({ number: 'fp16', headDim: 128, length: 'long', causal: false });
    expect(new Set(shapes?.map((shape) => JSON.stringify(Object.entries(shape).sort()))).size).toBe(shapes?.length);
  }
  expect([quick?.length, standard?.length, thorough?.length]).toEqual([3, 6, 16]);
});

describe('compared with native', () => {
  const row = {
    number: 'fp16',
    headDim: 128,
    length: 4_096,
    causal: false,
    batch: 33,
    heads: 16,
    kvHeads: 16,
    variant: 'v',
  };
  const result = (checksum: string, { seed = 1, batch = 33 } = {}) =>
    ({
      details: {
        seed,
        rows: [
          { ...row, batch, checksum },
          { ...row, causal: true, unsupported: 'x' },
        ],
      },
    }) as unknown as MetricResult;

  it('refuses an output that differs', () => {
    expect(besideNative(result('a'), result('b'))).toBe(
      "the output of fp16, D 128, S 4096 has another checksum than the native arm's",
    );
    expect(besideNative(result('a'), result('a'))).toBeNull();
  });

  it('compares only the same work', () => {
    expect(besideNative(result('a', { seed: 2 }), result('b'))).toBeNull();
    expect(besideNative(result('a', { batch: 8 }), result('b'))).toBeNull();
  });
});
