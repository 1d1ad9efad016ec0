/** LLM-001: attention's rate compared with the recorded launches, and layers that do no work. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import type { MetricResult } from '../../../lib/results/document.js';
import { median } from '../../../lib/stats/median.js';
import { emptyFolder, measure, measureRecorded, type Settings } from '../../native/child.js';
import type { Recorded } from '../../native/record.js';
import { leastOf, mostOf, type TimedBatch, timedBatches } from '../../native/timed-batches.js';
import { undisturbed } from '../../undisturbed.js';

interface Row {
  number: string;
  headDim: number;
  length: number;
  causal: boolean;
  batch: number;
  heads: number;
  variant: string;
  tflops: number;
  launches: number;
  batches: number;
  launchFlops: number;
  sampledRows: number;
  worstError: number;
  checksum: string;
}
interface Decode {
  cacheBytes: number;
  gbPerSecond: number;
  batches: number;
  referenceError: number;
}
const rowsOf = ({ details }: MetricResult | Partial<MetricResult>) => details?.rows as Row[];

/** Launches take much longer than the host's calls. */
const card = { init_ms: 1, context_ms: 1, tensor_tflops: 0.5 };
/** Every batch of these kernels in order, including warm-up. */
const batchesOf = (recorded: Recorded, kernels = 'gvb_attention_'): TimedBatch[] =>
  timedBatches(recorded).filter(({ kernel }) => kernel.startsWith(kernels));

function expectRate(
  row: Pick<Row, 'tflops' | 'launches' | 'batches' | 'launchFlops'>,
  batches: readonly TimedBatch[],
): void {
  expect(batches).toHaveLength(row.batches);
  for (const { launches } of batches) expect(launches).toHaveLength(row.launches);
  const rate = (launchNs: (batch: TimedBatch) => number) =>
    median(batches.map((batch) => row.launchFlops / launchNs(batch) / 1e3)).value;
  // The tolerance is the resolution of a float in milliseconds.
  expect(row.tflops).toBeLessThan(1.0001 * rate(leastOf));
  expect(row.tflops).toBeGreaterThan(0.9999 * rate(mostOf));
}

/** Operations: for each visible pair of query and key two products of D, with one addition per multiplication. */
function flopsOf({ length, causal, batch, heads, headDim }: Row): number {
  let pairs = 0;
  for (let query = 0; query < length; ++query) pairs += causal ? query + 1 : length;
  return batch * heads * pairs * 2 * (2 * headDim);
}

const measured = (sim: Settings, seed = 3) =>
  undisturbed(
    () => measureRecorded([['measureAttention', { seed }]], { sim }),
    ({ results }) => results,
  );

describe('LLM-001', () => {
  it.each([
    ['wgmma sm_90a', 90],
    ['mma.sync sm_80', 80],
    ['mma.sync sm_80', 100],
  ])('recovers the rate of %s on compute capability %i', async (variant, cc) => {
    const { results, recorded } = await measured({ ...card, cc });
    const result = results[0] as MetricResult;
    expect(result).toMatchObject({ status: 'ok', details: { variant, seed: 3 } });
    const rows = rowsOf(result);
    expect(rows.map(({ causal, length }) => [causal, length])).toEqual([
      [false, 160],
      [true, 160],
      [false, 64],
    ]);
    const batches = batchesOf(recorded);
    for (const row of rows) {
      batches.splice(0, 2);
      expectRate(row, batches.splice(0, row.batches));
      // Further batches do not count: they validate the events if the machine interrupted all counted ones.
      while (batches[0]?.launches.length === row.launches) batches.shift();
      expect(row).toMatchObject({ variant, launchFlops: flopsOf(row), sampledRows: 64 });
      expect(row.worstError).toBeLessThan(2e-3);
    }
    expect(batches).toEqual([]);
    expect(result.value).toBe(rows[0]?.tflops);
  });

  it('recovers the rate at which decode attention reads its cache', async () => {
    const { results, recorded } = await measured({ ...card, tensor_tflops: 50, dram_gbs: 1 });
    const decode = (results[0] as MetricResult).details.decode as Decode;
    const tokens = 2 * 72;
    expect(decode).toMatchObject({ batch: 2, cacheBytes: 2 * tokens * 2 * 128 * 2 });
    expect(decode.referenceError).toBeLessThan(2e-3);
    const batches = batchesOf(recorded, 'gvb_decoder_').slice(2, 2 + decode.batches);
    const launches = batches[0]?.launches.length as number;
    const rate = { launches, launchFlops: decode.cacheBytes, tflops: decode.gbPerSecond / 1e3 };
    expectRate({ ...rate, batches: decode.batches }, batches);
  });

  it('computes the same with every variant, and another result from another seed', async () => {
    const [hopper, ampere, other] = await Promise.all(
      [
        [90, 4],
        [80, 4],
        [90, 5],
      ].map(async ([cc, seed]) => {
        const { results } = await measured({ ...card, cc: cc as number, tensor_tflops: 50 }, seed as number);
        return rowsOf(results[0] as MetricResult).map(({ checksum }) => checksum);
      }),
    );
    expect(new Set(hopper).size).toBe(3);
    expect(ampere).toEqual(hopper);
    expect(new Set([...(hopper as string[]), ...(other as string[])]).size).toBe(6);
  });

  it('is unsupported without the tensor instructions of sm_80', async () => {
    const [result] = await measure([['measureAttention']], { sim: { ...card, cc: 75 } });
    expect(result).toMatchObject({ status: 'unsupported', value: null });
    expect(result?.reason).toMatch(/needs compute capability 8\.0 or higher; this GPU has 7\.5/);
  });
});

describe('a layer that does not do the work', () => {
  const layer = join(emptyFolder(), 'lazy-layer.so');
  beforeAll(() => {
    const source = fileURLToPath(new URL('../../native/fixtures/lazy-layer.cpp', import.meta.url));
    execFileSync('c++', ['-std=c++17', '-shared', '-fPIC', '-w', '-o', layer, source, '-ldl']);
  });

  it.each([
    ['cuLaunchKernel=100', 'cuLaunchKernel accepted kernels of'],
    ['kernel=gvb_attention_sm90_f16_d128', 'cuLaunchKernel accepted kernels of'],
    ['kernel=gvb_normal', "attention's inputs are not what they were filled with"],
    ['kernel=gvb_decoder_attention_128', 'decode attention'],
    ['copies=replay', "attention's inputs are not what they were filled with"],
  ])('gets no number with %s', async (lazy, why) => {
    const environment = { LD_PRELOAD: layer, GVB_TEST_LAZY: lazy };
    const [result] = await undisturbed(
      () => measure([['measureAttention']], { sim: card, environment }),
      (results) => results,
    );
    expect(result).toMatchObject({ status: 'invalid', value: null });
    expect(result?.reason).toContain(`a call reported success without doing its work: ${why}`);
  });

  it.each([
    ['gvb_attention_sm80_f16_d128', { cc: 80, shared_kib: 164, shared_block_kib: 163 }],
    ['gvb_attention_sm80_f16_d128_48k', { cc: 86, shared_kib: 100, shared_block_kib: 99 }],
  ])('gets no number from %s, of which two blocks fit on a multiprocessor', async (kernel, multiprocessor) => {
    const environment = { LD_PRELOAD: layer, GVB_TEST_LAZY: `kernel=${kernel}` };
    const [result] = await undisturbed(
      () => measure([['measureAttention']], { sim: { ...card, ...multiprocessor }, environment }),
      (results) => results,
    );
    expect(result?.reason).toContain('cuLaunchKernel accepted kernels of');
  });
});
