/** LLM-008: rates of matrix products compared with the recorded kernels. */
import { describe, expect, it } from 'vitest';
import type { MetricResult } from '../../../lib/results/document.js';
import { median } from '../../../lib/stats/median.js';
import { interposerLibrary } from '../../../lib/native/load.js';
import { measureRecorded, type Settings } from '../../native/child.js';
import type { Recorded } from '../../native/record.js';
import { leastOf, medianLaunchNs, mostOf, type TimedBatch, timedBatches } from '../../native/timed-batches.js';
import { undisturbed } from '../../undisturbed.js';

const SIDE = 4096;
const ROUNDS = 4;
const FLOPS = 2 * SIDE ** 3;
const sim = { init_ms: 1, context_ms: 1, alloc_us: 1, free_us: 1 };

interface Row {
  number: string;
  variant: string;
  tflops: number;
  launchUs: number;
  launchesOfBatch: number;
  flopsOfLaunch: number;
  bytesOfLaunch: number;
  ofCeiling: number | null;
  checksum: string;
  unsupported?: string;
}
const rowsOf = ({ details }: MetricResult) => details.formats as Row[];

const options = { iterations: ROUNDS, seed: 3 };

const RECORDED = 'cuLaunchKernel+cuEventRecord';

async function measured(settings: Settings = {}, interpose?: string, tier: 'quick' | 'thorough' = 'quick') {
  const environment = interpose ? { LD_PRELOAD: interposerLibrary() ?? '', GVB_INTERPOSE: interpose } : {};
  const child = { sim: { ...sim, recorded: RECORDED, ...settings }, environment };
  const { results, recorded } = await undisturbed(
    () => measureRecorded([['measureMixedPrecision', { ...options, tier }]], child),
    (of) => of.results,
  );
  return { result: results[0] as MetricResult, recorded };
}

const result = async (settings?: Settings, interpose?: string) => (await measured(settings, interpose)).result;

/** Number of counted batches of a format in one call of the addon; they come first. */
const BLOCK = 2;
/** Batches before them that calibrate their length. */
const FEW = 3;

/** The batches of a format by call of the addon: counted batches, then those that validate the events. */
function blocksOf(recorded: Recorded, kernels: string): TimedBatch[][] {
  const blocks: TimedBatch[][] = [];
  let few = 0;
  for (const batch of timedBatches(recorded).filter(({ kernel }) => kernel.startsWith(kernels)))
    if (batch.launches.length !== FEW) blocks.at(-1)?.push(batch);
    else if (few++ % 2 === 0) blocks.push([]);
  // The first call finds which formats have a kernel.
  return blocks.slice(1);
}

const countedOf = (recorded: Recorded, kernels: string): TimedBatch[] =>
  blocksOf(recorded, kernels).flatMap((block) => block.slice(0, BLOCK));

/** The resolution of a float in milliseconds, plus the difference of the device's clock from the host's. */
const CLOCKS = 1e-4;

function expectBetween(value: number, [least, most]: readonly [number, number]): void {
  expect(value).toBeGreaterThan(least * (1 - CLOCKS));
  expect(value).toBeLessThan(most * (1 + CLOCKS));
}

describe('LLM-008', () => {
  it('recovers the rates of every format from the kernels that ran', async () => {
    const { result: found, recorded } = await measured({ tensor_tflops: 500, fp32_tflops: 50 });
    expect(found).toMatchObject({ status: 'ok', unit: 'ratio', details: { side: SIDE, rounds: ROUNDS } });
    const kernels = {
      fp32: 'gvb_gemm_f32',
      fp16: 'gvb_gemm_sm90_f',
      bf16: 'gvb_gemm_sm90_b',
      'fp8 e4m3': 'gvb_gemm_sm90_e',
    };
    const rows = rowsOf(found);
    expect(rows.map(({ number }) => number)).toEqual(Object.keys(kernels));
    const batches = Object.fromEntries(
      Object.entries(kernels).map(([number, kernel]) => [number, countedOf(recorded, kernel)]),
    ) as Record<keyof typeof kernels, TimedBatch[]>;
    for (const row of rows) {
      const own = batches[row.number as keyof typeof kernels];
      expect(own).toHaveLength(ROUNDS);
      expect(own[0]?.launches).toHaveLength(row.launchesOfBatch);
      expectBetween(1e3 * row.launchUs, medianLaunchNs(own));
      const rate = (launchNs: typeof leastOf) => median(own.map((batch) => FLOPS / launchNs(batch) / 1e3)).value;
      expectBetween(row.tflops, [rate(mostOf), rate(leastOf)]);
      expect(row).toMatchObject({
        flopsOfLaunch: FLOPS,
        variant: row.number === 'fp32' ? 'fma sm_75' : 'wgmma sm_90a',
      });
    }
    const bytes = Object.fromEntries(rows.map(({ number, bytesOfLaunch }) => [number, bytesOfLaunch / SIDE ** 2]));
    expect(bytes).toEqual({ fp32: 12, fp16: 6, bf16: 6, 'fp8 e4m3': 4 });
    const ratios = (single: typeof leastOf, half: typeof leastOf) =>
      median(batches.fp32.map((batch, round) => single(batch) / half(batches.fp16[round] as TimedBatch))).value;
    expectBetween(found.value as number, [ratios(leastOf, mostOf), ratios(mostOf, leastOf)]);
  });

  it('computes the same with other kernels, and names the formats without a kernel', async () => {
    const [hopper, ampere, turing] = await Promise.all([
      result(),
      result({ cc: 86, tensor_tflops: 200 }),
      result({ cc: 75, tensor_tflops: 65, fp32_tflops: 8 }),
    ]);
    expect(ampere.status).toBe('ok');
    expect(rowsOf(ampere).map(({ variant }) => variant)).toEqual([
      'fma sm_75',
      'mma.sync sm_80',
      'mma.sync sm_80',
      undefined,
    ]);
    const checksums = (row: MetricResult) =>
      rowsOf(row)
        .slice(0, 3)
        .map(({ checksum }) => checksum);
    expect(new Set(checksums(hopper)).size).toBe(3);
    expect(checksums(ampere)).toEqual(checksums(hopper));
    expect(rowsOf(ampere)[3]?.unsupported).toMatch(/fp8 e4m3 .* compute capability 8\.9 or higher; this GPU has 8\.6/);
    expect(turing).toMatchObject({ status: 'unsupported', value: null });
    expect(turing.reason).toMatch(/fp16 .* compute capability 8\.0 or higher; this GPU has 7\.5/);
  });

  it('refuses a rate that the clock under load does not allow', async () => {
    const impossible = await result({ tensor_tflops: 2_400 });
    expect(impossible).toMatchObject({ status: 'invalid', value: null });
    expect(impossible.reason).toMatch(/^FLOP accounting: .*fp16 2\d{3}\.\d of 10\d\d\.\d TFLOPS/);
  });

  it('uses smaller matrices under a memory limit', async () => {
    expect(await result({}, 'quota=300MiB')).toMatchObject({ status: 'ok', details: { side: 2048 } });
    expect((await result({}, 'quota=40MiB')).status).toBe('unsupported');
  });

  it('measures FP32 at 10 000 × 10 000 at tier thorough', async () => {
    const { result: found, recorded } = await measured({}, undefined, 'thorough');
    const [sanity] = found.details.sanity as [Row & { side: number }];
    expect(sanity).toMatchObject({ side: 10_000, number: 'fp32', flopsOfLaunch: 2e12 });
    const [batch] = blocksOf(recorded, 'gvb_gemm_f32').at(-1) as [TimedBatch];
    expect(batch.launches).toHaveLength(sanity.launchesOfBatch);
    expectBetween(2e9 / sanity.tflops, medianLaunchNs([batch]));
  });
});
