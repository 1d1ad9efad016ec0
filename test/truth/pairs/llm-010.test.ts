/**
 * LLM-010 on simulated cards whose rates determine the cost of a block and its all-reduces, and with an NCCL that
 * fails.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import type { MetricResult } from '../../../lib/results/document.js';
import { multiGpuScalingBy, type ScalingPlan } from '../../../lib/metrics/llm/llm-010-multi-gpu-scaling.js';
import { join as joinRanks } from '../../../lib/metrics/nccl/ranks.js';
import { measureMetric } from '../../../lib/metrics/core/measure.js';
import { median } from '../../../lib/stats/median.js';
import type { MetricDefinition } from '../../../lib/metrics/core/metric.js';
import { FIRST_ID, inScene } from '../../../lib/metrics/tenants/scene.js';
import { environmentSystem } from '../../../lib/systems/process/environment.js';
import { metricNamed } from '../../metric-named.js';
import { emptyFolder, simulatedFolder } from '../../native/child.js';
import { environment } from '../../native/measured.js';
import { type Recorded, recordedByProcess } from '../../native/record.js';
import { undisturbed, undisturbedRecord } from '../../undisturbed.js';

interface Row {
  ranks: number;
  wholeMs: number;
  stepMs: number;
  speedup: number;
  allReducesMs: number;
  communicationPercent: number;
  checksum: string;
}
const rowsOf = ({ details }: MetricResult) => details.rows as Row[];

const SIZES = { tokens: 32, hidden: 128, mlp: 256 };
const FLOPS = 4 * SIZES.tokens * SIZES.hidden * (SIZES.hidden + SIZES.mlp);
const REDUCED_BYTES = 2 * SIZES.tokens * SIZES.hidden;
/** Steps take much longer than the ranks need to synchronise, so that only the cards and their link matter. */
const CARD = { tflops: 0.0005, kernelMs: 0.001, linkGbs: 0.1, ncclUs: 1000 };
const CAPACITIES = `tensor_tflops=${CARD.tflops},link_gbs=${CARD.linkGbs}`;
const STEPS = { rounds: 3, steps: 4 };
const PLAN: ScalingPlan = { sizes: SIZES, steps: STEPS };
/** Settings for tests that check no times: cards with minimal costs. */
const FAST = 'devices=2,tensor_tflops=1000,nccl_us=1';
const SHORT: ScalingPlan = { sizes: SIZES, steps: { rounds: 1, steps: 2 } };
/** Steps of 126 ms on one GPU and 36 ms on four, so that a speed-up remains if ranks are late. */
const LONG: ScalingPlan = { sizes: SIZES, steps: { rounds: 3, steps: 2 } };
const nccl = join(simulatedFolder, 'nccl');

function measuredBy(
  measure: MetricDefinition['measure'],
  sim: string,
  variables: NodeJS.ProcessEnv = {},
  record?: string,
): Promise<MetricResult> {
  const system = environmentSystem({
    ...environment(null, `${CAPACITIES},${sim}`, record),
    LD_LIBRARY_PATH: nccl,
    ...variables,
  });
  return measureMetric({ ...metricNamed('LLM-010'), measure }, { simulate: true, seed: 5 }, { system });
}

const scaling = (plan: ScalingPlan, sim: string, variables?: NodeJS.ProcessEnv, record?: string) =>
  measuredBy(multiGpuScalingBy(plan), sim, variables, record);

/** Time of the four matrix products of a step; an all-reduce follows every second one. */
const productsMs = (ranks: number) => FLOPS / ranks / CARD.tflops / 1e9 + 4 * CARD.kernelMs;
const allReducesMs = (ranks: number) =>
  2 * (CARD.ncclUs / 1e3 + (REDUCED_BYTES * 2 * (ranks - 1)) / ranks / CARD.linkGbs / 1e6);

interface Windows {
  products: number[];
  allReduces: number[];
}

/**
 * The time of a step in ms by the host's record: from the first event's call to the end of the wait for the second.
 */
function windowsOf({ calls }: Recorded, steps: number): Windows {
  const windows: Windows = { products: [], allReduces: [] };
  let [from, events, products] = [0, 0, 0];
  for (const call of calls) {
    if (call.name === 'cuEventRecord' && events++ === 0) [from, products] = [call.entered, 0];
    if (call.kernel.startsWith('gvb_gemm')) products++;
    if (call.name !== 'cuStreamSynchronize' || events < 2) continue;
    windows[products > 0 ? 'products' : 'allReduces'].push((call.left - from) / steps / 1e6);
    events = 0;
  }
  return windows;
}

/** The last rounds: alternating between the whole block and its shards. */
function recordedSteps({ products, allReduces }: Windows, rounds: number) {
  const last = products.slice(-2 * rounds);
  const [whole, sharded] = [0, 1].map((kind) => last.filter((_, i) => i % 2 === kind)) as [number[], number[]];
  return { whole, sharded, reduced: allReduces.slice(-rounds) };
}

/** A host that wakes up late makes a window longer, as recorded; no window is shorter than the cards' time. */
function expectRecorded(ms: number, recorded: readonly number[], leastMs: number): void {
  expect(Math.abs(ms / median(recorded).value - 1)).toBeLessThan(0.01);
  expect(ms).toBeGreaterThan(0.99 * leastMs);
}

describe('LLM-010', () => {
  it('finds the speed-up that the rates of two cards and their link allow', async () => {
    const calls = 'recorded=cuLaunchKernel+cuEventRecord+cuStreamSynchronize';
    const { result, record } = await undisturbedRecord((folder) =>
      scaling(PLAN, `devices=2,nccl_us=${CARD.ncclUs},${calls}`, {}, folder),
    );
    expect(result).toMatchObject({
      status: 'ok',
      processes: 2,
      details: {
        ranks: 2,
        block: { ...SIZES, number: 'bf16', flops: FLOPS },
        variant: 'wgmma sm_90a',
        nccl: { version: '2.27.7', environment: { NCCL_NVLS_ENABLE: '0', NCCL_SOCKET_IFNAME: 'lo' } },
      },
    });
    const [row] = rowsOf(result) as [Row];
    // The first rank alone ran the whole block.
    const [rank] = recordedByProcess(record)
      .map((process) => windowsOf(process, STEPS.steps))
      .sort((a, b) => b.products.length - a.products.length) as [Windows];
    const { whole, sharded, reduced } = recordedSteps(rank, STEPS.rounds);
    expectRecorded(row.wholeMs, whole, productsMs(1));
    expectRecorded(row.stepMs, sharded, productsMs(2) + allReducesMs(2));
    expectRecorded(row.allReducesMs, reduced, allReducesMs(2));
    const ratios = whole.map((ms, round) => ms / (sharded[round] as number));
    expect(Math.abs((result.value as number) / median(ratios).value - 1)).toBeLessThan(0.02);
    expect(row.communicationPercent).toBeCloseTo((100 * row.allReducesMs) / row.stepMs, 9);
  });

  it('has rows for two and four GPUs, in visible order', async () => {
    const variables = { CUDA_VISIBLE_DEVICES: '3,1,0,2,4' };
    const result = await undisturbed(
      () => scaling(LONG, 'devices=5,cc=80,tensor_tflops=0.00005,nccl_us=2000', variables),
      (measured) => [measured],
    );
    expect(result).toMatchObject({ status: 'ok', details: { ranks: 4, visibleGpus: 5, variant: 'mma.sync sm_80' } });
    expect((result.details.gpus as { index: number }[]).map(({ index }) => index)).toEqual([3, 1, 0, 2]);
    const rows = rowsOf(result);
    expect(rows.map(({ ranks }) => ranks)).toEqual([2, 4]);
    expect(result.value).toBe(rows[1]?.speedup);
  });

  it('publishes no number if sums are left out', async () => {
    const result = await scaling(SHORT, `${FAST},nccl_skip=1`);
    expect(result).toMatchObject({ status: 'invalid', value: null });
    expect(result.reason).toMatch(/^every rank has the sum of all ranks: 256 sampled sums on 2 ranks, off by at most/);
    const whole = result.checks.find(({ name }) => name === 'sharded equals unsharded');
    expect(whole?.passed).toBe(false);
  });

  it('publishes no number if two GPUs are slower than one, and reports what takes the time', async () => {
    // All-reduces take three times as long as the whole block on one GPU; a busy host delays them further.
    const result = await scaling(SHORT, 'devices=2,nccl_us=30000');
    expect(result).toMatchObject({ status: 'invalid', value: null });
    expect(result.reason).toMatch(
      /^speed-up from 1 .*: 0\.\d+ with 2 ranks: slower than one GPU alone; all-reduces .* \d+ %/,
    );
  });

  it("fails at a deadline if NCCL's initialisation never returns", async () => {
    const result = await scaling({ ...SHORT, joinMs: 3_000 }, 'devices=2,nccl_hang=1');
    expect(result).toMatchObject({ status: 'failed', value: null });
    expect(result.reason).toMatch(
      /^ncclCommInitRank on rank [01] of 2 did not return \(.*HAMi#2641\)\. Timed out after 3 s/,
    );
  });

  it.each([
    ['ncclAllReduce:1@3', /^ncclAllReduce returned 1, unhandled cuda error/],
    ['ncclCommGetAsyncError:6@1', /^ncclCommGetAsyncError returned 6, remote process exited/],
  ])("fails with NCCL's error: %s", async (fail, reason) => {
    const result = await scaling(SHORT, `${FAST},fail=${fail}`);
    expect(result).toMatchObject({ status: 'failed', value: null, reason: expect.stringMatching(reason) as string });
  });

  it.each([
    ['there is one GPU', 'devices=1', {}, /^several GPUs are needed; the process sees one GPU/],
    ['one GPU is visible', 'devices=2', { CUDA_VISIBLE_DEVICES: '1' }, /the process sees one GPU/],
    [
      'there is no NCCL',
      'devices=2',
      { LD_LIBRARY_PATH: '' },
      /^NCCL was not found \(libnccl\.so\.2: .*\): install it, .* LD_LIBRARY_PATH$/,
    ],
  ])('is unsupported where %s', async (_, sim, variables, reason) => {
    const result = await scaling(SHORT, sim, variables);
    expect(result).toMatchObject({ status: 'unsupported', value: null });
    expect(result.reason).toMatch(reason);
  });

  it('is unsupported if NCCL refuses two ranks on one GPU, and fails at once if a rank dies', async () => {
    const two = (dies: boolean) =>
      measuredBy(
        (context) =>
          inScene(context, async (scene) => {
            const workers = [await scene.startWorker({ id: FIRST_ID }), await scene.startWorker({ id: FIRST_ID })];
            for (const worker of workers) await scene.hold(worker, 0);
            const joined = joinRanks(workers, 60_000);
            if (dies) workers[1]?.signal('SIGKILL');
            await joined;
            throw new Error('two ranks with one GPU have joined');
          }),
        'devices=2',
      );
    await expect(two(false)).rejects.toThrow(/^NCCL refuses ranks that share a GPU: .*Duplicate GPU detected/);
    expect(await two(true)).toMatchObject({
      status: 'failed',
      reason: expect.stringMatching(/The worker process .*SIGKILL/) as string,
    });
  });
});

describe('a layer that does not do the work', () => {
  const layer = join(emptyFolder(), 'lazy-layer.so');
  beforeAll(() => {
    const source = fileURLToPath(new URL('../../native/fixtures/lazy-layer.cpp', import.meta.url));
    execFileSync('c++', ['-std=c++17', '-shared', '-fPIC', '-w', '-o', layer, source, '-ldl']);
  });

  it.each(['cuLaunchKernel=40', 'kernel=gvb_gemm_sm90_bf16'])('gets no number with %s', async (lazy) => {
    const result = await scaling(SHORT, FAST, { LD_PRELOAD: layer, GVB_TEST_LAZY: lazy });
    expect(result).toMatchObject({ status: 'invalid', value: null });
  });
});
