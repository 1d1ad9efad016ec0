/** LLM-010: how much faster a transformer block is on several GPUs, which add up its activations through NCCL. */
import * as v from 'valibot';
import type { PreparedShard } from '../../native/addon-types.js';
import type { Tier } from '../../results/document.js';
import type { WorkerTenant } from '../../workers/worker-tenant.js';
import { count, described, quantity, rows, text } from '../core/details.js';
import { measureFunction } from '../core/measure-function.js';
import { invalidBy, type MeasureContext, type Measured, type MetricDefinition } from '../core/metric.js';
import { serialMedian } from '../../stats/serial.js';
import { formatBytes } from '../../results/text/format-bytes.js';
import { memoryLimit, Unavailable, unlessUnavailable } from '../nccl/gpu-workers.js';
import { describedRanks, join, leaveAll, type Ranks, ranksFields, withRanks } from '../nccl/ranks.js';
import {
  blockRow,
  type BlockSizes,
  measureSharded,
  prepareShard,
  rowOf,
  type Sharded,
  speedupCheck,
  speedups,
  type Steps,
} from './sharded-block.js';

const PLAN: Record<Tier, Steps> = {
  quick: { rounds: 5, steps: 40 },
  standard: { rounds: 10, steps: 40 },
  thorough: { rounds: 20, steps: 200 },
};
/**
 * Sizes in order of preference: the first one is used whose weights and activations, whole and in shards, take at most
 * half of the memory. Llama's of 70B and 8B, then smaller ones.
 */
const SIZES: readonly BlockSizes[] = [
  { tokens: 2048, hidden: 8192, mlp: 28672 },
  { tokens: 2048, hidden: 4096, mlp: 14336 },
  { tokens: 1024, hidden: 2048, mlp: 7168 },
  { tokens: 512, hidden: 1024, mlp: 3584 },
];
/** A simulated card computes on the host. */
const SIMULATED: BlockSizes = { tokens: 32, hidden: 128, mlp: 256 };
const BYTES = 2;
const JOIN_MS = 60_000;
/** Numbers of ranks that can share a block; they divide its columns. */
const COUNTS: readonly number[] = [2, 4, 8, 16];

const details = v.strictObject({
  ranks: count('Ranks behind the value, each on a GPU of its own'),
  block: described(
    v.strictObject({
      tokens: count('Tokens in a step'),
      hidden: count('Values per token'),
      mlp: count('Width of the MLP'),
      number: text('Format of weights and activations'),
      flops: quantity('FLOP', 'Operations of a step'),
      weightBytes: count('Weights (bytes)'),
    }),
    'The transformer block, whole',
  ),
  variant: text('Kernel of the matrix products'),
  rows: rows(blockRow, 'A row per number of ranks'),
  ...ranksFields,
});

export type MultiGpuScalingDetails = v.InferOutput<typeof details>;

export interface ScalingPlan {
  sizes?: BlockSizes;
  steps?: Steps;
  /** Duration of ncclCommInitRank. */
  joinMs?: number;
}

/** Bytes on rank 0: the whole block and the largest shard. */
const bytesOf = ({ tokens, hidden, mlp }: BlockSizes): number =>
  1.5 * BYTES * (2 * hidden * (hidden + mlp) + tokens * (6 * hidden + mlp));

async function sizesFor(context: MeasureContext, ranks: Ranks, plan: ScalingPlan): Promise<BlockSizes> {
  if (plan.sizes) return plan.sizes;
  if (context.simulatedDriver !== null) return SIMULATED;
  const limit = await memoryLimit(ranks);
  const sizes = SIZES.find((each) => bytesOf(each) <= limit / 2);
  if (!sizes) throw new Unavailable(`half of ${formatBytes(limit)} holds no block to measure`);
  return sizes;
}

interface Outcome {
  sizes: BlockSizes;
  whole: PreparedShard;
  rows: MultiGpuScalingDetails['rows'];
  measured: Sharded[];
}

async function measureCounts(context: MeasureContext, ranks: Ranks, plan: ScalingPlan): Promise<Outcome> {
  const { seed, tier, iterations } = context.options;
  const sizes = await sizesFor(context, ranks, plan);
  const steps = plan.steps ?? { ...PLAN[tier], rounds: iterations ?? PLAN[tier].rounds };
  const whole = await prepareShard(ranks.workers[0] as WorkerTenant, 1, 0, sizes, seed);
  const counts = COUNTS.filter((count) => count <= ranks.workers.length);
  const outcome: Outcome = { sizes, whole, rows: [], measured: [] };
  for (const count of counts) {
    context.progress(`${count} ranks`, outcome.rows.length / counts.length);
    const workers = ranks.workers.slice(0, count);
    await join(workers, plan.joinMs ?? JOIN_MS);
    const shards = await Promise.all(workers.map((worker, rank) => prepareShard(worker, count, rank, sizes, seed)));
    const measured = await measureSharded(ranks, count, steps, seed);
    outcome.measured.push(measured);
    outcome.rows.push(rowOf(measured, (shards[0] as PreparedShard).reducedBytes));
  }
  await leaveAll(ranks.workers);
  return outcome;
}

function judged(ranks: Ranks, { sizes, whole, rows, measured }: Outcome): Measured<MultiGpuScalingDetails> {
  const [largest, row] = [measured.at(-1) as Sharded, rows.at(-1) as Outcome['rows'][number]];
  const checks = [...measured.flatMap((each) => each.checks), speedupCheck(row)];
  const ratios = speedups(largest);
  const { value, ci95 } = serialMedian(ratios);
  const { variant, flops, weightBytes } = whole;
  return {
    ...invalidBy(checks),
    value,
    ci95,
    processes: largest.ranks,
    headline: ratios,
    details: {
      ranks: largest.ranks,
      block: { ...sizes, number: 'bf16', flops, weightBytes },
      variant,
      rows,
      ...describedRanks(ranks),
    },
    checks,
  };
}

/** With a given plan, for tests. */
export const multiGpuScalingBy =
  (plan: ScalingPlan = {}): MetricDefinition<MultiGpuScalingDetails>['measure'] =>
  (context) =>
    unlessUnavailable(() =>
      withRanks(
        context,
        async (ranks) => judged(ranks, await measureCounts(context, ranks, plan)),
        (visible) => COUNTS.findLast((count) => count <= visible) ?? 0,
      ),
    );

export const multiGpuScaling: MetricDefinition<MultiGpuScalingDetails> = {
  id: 'LLM-010',
  name: 'Multi-GPU Scaling Factor',
  category: 'llm',
  unit: 'ratio',
  direction: 'higher',
  question: 'Can a GPU under this layer still do tensor parallelism?',
  estimator:
    'time of a transformer block on one GPU ÷ its time in shards on all GPUs with all-reduces, median over rounds',
  delta: { relative: 0.03 },
  comparedAt: {
    name: 'ranks × columns',
    of: ({ ranks, block }) => (block ? `${String(ranks)} × ${(block as BlockSizes).hidden}` : undefined),
  },
  needs: ['two GPUs', 'NCCL'],
  functionName: 'measureMultiGpuScaling',
  where: 'fresh-processes',
  details,
  lineCharts: [
    {
      title: 'Speed-up against number of GPUs',
      axes: { x: 'GPUs', y: 'times as fast as one' },
      rows: 'rows',
      point: { x: 'ranks', y: 'speedup' },
    },
  ],
  seconds: { quick: 9, standard: 13, thorough: 45 },
  measure: multiGpuScalingBy(),
};

/**
 * LLM-010, ratio: how many times as fast the matrix products of a transformer block are on all visible GPUs (the
 * largest power of two of them), with one process per GPU and NCCL's all-reduce. `details.rows[]` has time, efficiency
 * and the share of communication for 2, 4, 8 … GPUs; `nccl` the library and how the GPUs are connected. NCCL is found
 * where LD_LIBRARY_PATH names its folder; NVLink multicast is off. `iterations` is the number of rounds; `warmup` and
 * `resolution` do not apply.
 */
export const measureMultiGpuScaling = measureFunction(multiGpuScaling);
