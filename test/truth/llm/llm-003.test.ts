/** LLM-003 on simulated cards whose rates determine the cost of a batch, and under layers that do not do the work. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import type { MetricResult, Tier } from '../../../lib/results/document.js';
import { type BatchScalingPlan, batchScalingBy } from '../../../lib/metrics/llm/llm-003-batch-scaling.js';
import { measureMetric } from '../../../lib/metrics/core/measure.js';
import { median } from '../../../lib/stats/median.js';
import { environmentSystem } from '../../../lib/systems/process/environment.js';
import type { System, Tenant } from '../../../lib/systems/system.js';
import { metricNamed } from '../../metric-named.js';
import { ownRegion } from '../../temporary.js';
import { emptyFolder } from '../../native/child.js';
import { environment, environmentUnder } from '../../native/measured.js';
import { recordedByProcess } from '../../native/record.js';
import { leastOf, medianLaunchNs, mostOf, type TimedBatch, timedBatches } from '../../native/timed-batches.js';
import { undisturbed, undisturbedRecord } from '../../undisturbed.js';

interface Batch {
  batch: number;
  tokensPerSecond: number;
  efficiency: number;
  launchUs: number;
  variant: string;
  checksum: string;
}
const batchesOf = ({ details }: MetricResult) => details.batches as Batch[];

const [N, K] = [512, 1024];
const SIZES = { n: N, k: K, layers: 2, streamBytes: 2 ** 22 };
/** Launches take much longer than the host's calls, so that only the card matters. */
const CARD = { dramGbs: 10, tensorTflops: 0.4, kernelUs: 1 };
const CAPACITIES = `dram_gbs=${CARD.dramGbs},tensor_tflops=${CARD.tensorTflops}`;

const scaling = (system: System, plan: BatchScalingPlan = {}, tier: Tier = 'quick') =>
  measureMetric(
    { ...metricNamed('LLM-003'), measure: batchScalingBy({ ...SIZES, ...plan }) },
    { simulate: true, seed: 5, tier },
    { system },
  );

/** Measures on a card whose launches stream the weights, which a busy host can delay. */
const streaming = (sim: string) =>
  undisturbed(
    () => scaling(environmentUnder(null, sim)),
    (result) => [result],
  );

/** Time of a launch on that card, in us. */
function expectedUs(batch: number): number {
  const bytes = 2 * (N * K + batch * K + batch * N);
  const flops = 2 * batch * N * K;
  return Math.max(bytes / CARD.dramGbs, flops / (CARD.tensorTflops * 1e3)) / 1e3 + CARD.kernelUs;
}

/** Numbers at tier quick: rounds, readings of the memory, and launches. */
const [ROUNDS, READINGS, LAUNCHES] = [6, 3, 30];
/** The resolution of a float in milliseconds, plus the difference of the device's clock from the host's. */
const CLOCKS = 1e-4;

function expectBetween(value: number, [least, most]: readonly [number, number]): void {
  expect(value).toBeGreaterThan(least * (1 - CLOCKS));
  expect(value).toBeLessThan(most * (1 + CLOCKS));
}

/** Counted batches come after shorter ones, and before those that validate the events. */
const countedOf = (batches: readonly TimedBatch[], count: number): TimedBatch[] => {
  const counted = batches.filter(({ launches }) => launches.length === LAUNCHES).slice(0, count);
  expect(counted).toHaveLength(count);
  return counted;
};

/** Batches whose kernels take this long, whatever lies between them. */
const ofSize = (batches: readonly TimedBatch[], size: number): TimedBatch[] =>
  batches.filter(({ kernel, launches }) => {
    const { value } = median(launches.map(({ begins, ends }) => (ends - begins) / 1e3));
    return kernel.startsWith('gvb_skinny') && Math.abs(value / expectedUs(size) - 1) < CLOCKS;
  });

describe('LLM-003', () => {
  it('finds the batch from which arithmetic takes longer than memory', async () => {
    const { result, record } = await undisturbedRecord((folder) =>
      scaling(environmentUnder(null, `${CAPACITIES},recorded=cuLaunchKernel+cuLaunchKernelEx+cuEventRecord`, folder)),
    );
    expect(result).toMatchObject({ status: 'ok', details: { weights: { n: N, k: K } } });
    const rows = batchesOf(result);
    expect(rows.map(({ batch }) => batch)).toEqual([1, 2, 4, 8, 16, 32, 64]);
    const all = recordedByProcess(record).flatMap(timedBatches);
    const recorded = new Map(rows.map(({ batch }) => [batch, countedOf(ofSize(all, batch), ROUNDS)]));
    for (const { batch, launchUs, tokensPerSecond, efficiency } of rows) {
      expectBetween(1e3 * launchUs, medianLaunchNs(recorded.get(batch) as TimedBatch[]));
      expect(tokensPerSecond).toBeCloseTo((batch * 1e6) / launchUs, 3);
      expect(efficiency).toBeCloseTo((rows[0] as Batch).launchUs / launchUs, 9);
    }
    const [one, many] = [1, 32].map((batch) => recorded.get(batch)) as [TimedBatch[], TimedBatch[]];
    const efficiency = (alone: typeof leastOf, together: typeof leastOf) =>
      median(one.map((batch, round) => alone(batch) / together(many[round] as TimedBatch))).value;
    expectBetween(result.value as number, [efficiency(leastOf, mostOf), efficiency(mostOf, leastOf)]);
    // 64, if the host launches in time.
    expect(result.details.batchBelow80Percent).toBe(rows.find(({ efficiency: of }) => of < 0.8)?.batch);
    expect(rows.at(-1)?.efficiency).toBeLessThan(0.8);
    const reads = countedOf(
      all.filter(({ kernel }) => kernel === 'gvb_stream_read'),
      READINGS,
    );
    expectBetween(SIZES.streamBytes / (result.details.dramReadGbPerSecond as number), medianLaunchNs(reads));
  });

  it('computes the same on cards of different speed, with a different kernel for each', async () => {
    const [ampere, turing] = await Promise.all([
      streaming(`${CAPACITIES},cc=80,region=${ownRegion('llm-003')}`),
      streaming(`dram_gbs=20,fp32_tflops=1,cc=75,region=${ownRegion('llm-003')}`),
    ]);
    expect(ampere.details.variant).toBe('mma.sync sm_80');
    expect(turing.details.variant).toBe('fma sm_75');
    const checksums = batchesOf(ampere).map(({ checksum }) => checksum);
    expect(new Set(checksums).size).toBe(7);
    expect(batchesOf(turing).map(({ checksum }) => checksum)).toEqual(checksums);
  });

  it('publishes no ratio if a single token does not stream the weights', async () => {
    // Large enough that a reading delayed by the host is still faster than the batch.
    const plan = { streamBytes: 2 ** 24 };
    const result = await scaling(environmentUnder(null, `${CAPACITIES},kernel_ns=300000`), plan);
    expect(result).toMatchObject({ status: 'invalid', value: null });
    expect(result.reason).toMatch(/^a single token streams the weights: \d+ GB\/s of \d+ GB\/s/);
  });

  const asWanted = (tenant?: Tenant) => ({ memoryBytes: null, smPercent: tenant?.limits?.smPercent ?? 80 });
  const asInTemplate = () => ({ memoryBytes: null, smPercent: 80 });

  it.each([
    ['that the system sets', 'standard', 'softDutyCycle', asWanted, 50],
    ['that the system sets, at tier quick', 'quick', 'softDutyCycle', asWanted, undefined],
    ["that every tenant has, as in a pod's template", 'standard', 'softDutyCycle', asInTemplate, undefined],
    ['that the hardware has', 'standard', 'hardware', asWanted, undefined],
  ] as const)('has a row, or none, under a limit %s', async (_, tier, computeLimit, limits, percent) => {
    const plain = environmentUnder(null, CAPACITIES);
    const system = { ...plain, capabilities: { ...plain.capabilities, computeLimit }, limits };
    const { status, details } = await scaling(system, {}, tier);
    expect(status).toBe('ok');
    expect((details.limited as { smPercent: number } | undefined)?.smPercent).toBe(percent);
  });

  it('is unsupported where the weights do not fit', async () => {
    const result = await scaling(environmentUnder(null, 'memory_mib=900'));
    expect(result).toMatchObject({ status: 'unsupported', value: null });
    expect(result.reason).toMatch(/^it needs \d+ MiB of memory, the process may use \d+ MiB$/);
  });
});

describe('a layer that does not do the work', () => {
  const layer = join(emptyFolder(), 'lazy-layer.so');
  beforeAll(() => {
    const source = fileURLToPath(new URL('../../native/fixtures/lazy-layer.cpp', import.meta.url));
    execFileSync('c++', ['-std=c++17', '-shared', '-fPIC', '-w', '-o', layer, source, '-ldl']);
  });

  it.each(['cuLaunchKernel=30', 'cuLaunchKernel=150', 'kernel=gvb_skinny_f16_16', 'copies=replay'])(
    'gets no number with %s',
    async (lazy) => {
      const system = environmentSystem({ ...environment(null, CAPACITIES), LD_PRELOAD: layer, GVB_TEST_LAZY: lazy });
      expect(await scaling(system)).toMatchObject({
        status: 'invalid',
        value: null,
        reason: expect.stringMatching(/^a call reported success without doing its work: /) as string,
      });
    },
  );
});
