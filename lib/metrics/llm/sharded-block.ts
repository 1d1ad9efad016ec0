/**
 * The matrix products of a transformer block on one rank and in shards on several: times, and whether the sums are
 * right.
 */
import { createHash, randomInt } from 'node:crypto';
import * as v from 'valibot';
import type { BlockSample, StepsRequest, StepTimes } from '../../native/addon-types.js';
import { BenchError } from '../../errors/bench-error.js';
import type { Check } from '../../results/document.js';
import { median } from '../../stats/median.js';
import { serialMedian } from '../../stats/serial.js';
import { askSession, sessionTaskOf } from '../../workers/session-task.js';
import type { WorkerTenant } from '../../workers/worker-tenant.js';
import { count, interval, quantity, text } from '../core/details.js';
import type { Ranks } from '../nccl/ranks.js';

const TASK_MS = 120_000;
const WARM_UP_STEPS = 2;
/** Tolerance between the device's clock and the host's. */
const CLOCKS = 1.02;
/** Largest rounding error to bf16 of each intermediate sum in NCCL. */
const OF_SUM = 2 ** -8;
/**
 * Tolerance relative to a result's standard deviation: intermediate activations are rounded separately. A missing rank
 * causes 0.35 or more.
 */
const OF_WHOLE = 2 ** -4;
const MOST_SEED = 2 ** 47;
const MOST_OF_RANKS = 1.05;

export interface BlockSizes {
  tokens: number;
  hidden: number;
  mlp: number;
}

export interface Steps {
  rounds: number;
  steps: number;
}

export interface Sharded {
  ranks: number;
  /** Milliseconds per step, by round. */
  whole: Float64Array;
  sharded: Float64Array;
  reduced: Float64Array;
  checks: Check[];
  checksum: string;
}

/** A row of the details. */
export const blockRow = v.strictObject({
  ranks: count('Ranks, each on a GPU of its own'),
  wholeMs: quantity('ms', 'Median time of a step of the whole block on one GPU'),
  stepMs: quantity('ms', 'Median time of a step of its shards on all ranks, with all-reduces'),
  speedup: quantity('ratio', 'wholeMs ÷ stepMs, median over rounds'),
  ci95: interval('ratio', 'speedup'),
  efficiency: quantity('ratio', 'speedup ÷ ranks'),
  allReducesMs: quantity('ms', "Median time of a step's all-reduces alone"),
  communicationPercent: quantity('%', 'That time, of stepMs'),
  busGbPerSecond: quantity('GB/s', 'Bus bandwidth of those all-reduces, counted as in nccl-tests'),
  checksum: text('Checksum of sampled results'),
});

type BlockRow = v.InferOutput<typeof blockRow>;

const failed = (failure: string): BenchError => new BenchError('WORKER', `${failure}.`);

/** Times by rank 0's host clock; the other ranks began and ended with it. */
interface Timed {
  ms: number;
  /** Time between the events around the steps, relative to the host's time. */
  deviceShare: number;
}

async function run({ scene }: Ranks, workers: readonly WorkerTenant[], request: Omit<StepsRequest, 'startAtNs'>) {
  const task = sessionTaskOf('runSteps', request);
  const { outcomes } = await scene.scene.release<StepTimes>(new Map(workers.map((each) => [each, task])), TASK_MS);
  const times = outcomes.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason;
    if (outcome.value.failure !== null) throw failed(outcome.value.failure);
    return outcome.value;
  });
  const { beganNs, endedNs, deviceNs } = times[0] as StepTimes;
  const hostNs = endedNs - beganNs;
  return { ms: hostNs / request.steps / 1e6, deviceShare: deviceNs / hostNs } satisfies Timed;
}

const sampled = (worker: WorkerTenant, ranks: number, seed: number): Promise<BlockSample> =>
  askSession(worker, { name: 'sampleBlock', request: { ranks, seed }, deadlineMs: TASK_MS });

/** Every rank must hold the sums of all ranks' parts. */
export function sumCheck(samples: readonly BlockSample[]): Check {
  let worst = 0;
  const places = samples[0]?.sums.length ?? 0;
  for (let place = 0; place < places; place += 1) {
    const parts = samples.map(({ parts }) => parts[place] as number);
    const exact = parts.reduce((sum, part) => sum + part, 0);
    const allowed = samples.length * OF_SUM * parts.reduce((sum, part) => sum + Math.abs(part), 0);
    for (const { sums } of samples) worst = Math.max(worst, off(sums[place], exact, allowed));
  }
  return {
    name: 'every rank has the sum of all ranks',
    passed: places > 0 && worst <= 1,
    detail: `${places} sampled sums on ${samples.length} ranks, off by at most ${worst.toFixed(2)} of what rounding allows`,
  };
}

/** A value that was not computed is NaN, which JSON stores as null. */
const off = (value: number | null | undefined, exact: number, allowed: number): number =>
  typeof value === 'number' && Number.isFinite(exact) ? Math.abs(value - exact) / allowed : Infinity;

/** Compares both results of the block at the same places. */
export function wholeCheck(whole: BlockSample, sharded: BlockSample): Check {
  const half = whole.sums.length / 2;
  let worst = 0;
  for (const from of [0, half]) {
    const expected = whole.sums.slice(from, from + half);
    const deviation = Math.sqrt(expected.reduce((sum, value) => sum + value * value, 0) / half);
    expected.forEach((value, i) => {
      worst = Math.max(worst, off(sharded.sums[from + i], value, OF_WHOLE * deviation));
    });
  }
  return {
    name: 'sharded equals unsharded',
    passed: half > 0 && worst <= 1,
    detail: `${2 * half} sampled activations, off by at most ${(OF_WHOLE * worst).toFixed(4)} of their deviation, ${OF_WHOLE} is allowed`,
  };
}

/** A layer that returns early from a synchronisation would make the host's time too short. */
function clockCheck(ranks: number, windows: readonly Timed[]): Check {
  const longest = Math.max(...windows.map(({ deviceShare }) => deviceShare));
  return {
    name: `the host waited for the device (${ranks} ranks)`,
    passed: longest <= CLOCKS,
    detail: `steps took at most ${longest.toFixed(2)} times as long on the device as on the host`,
  };
}

/**
 * A speedup above the number of ranks is impossible; one below 1 is possible, but no scaling. Neither is valid by the
 * metric's definition.
 */
export function speedupCheck({ ranks, speedup, communicationPercent }: Omit<BlockRow, 'checksum'>): Check {
  const passed = speedup >= 1 && speedup <= MOST_OF_RANKS * ranks;
  const why =
    speedup < 1
      ? `: slower than one GPU alone; all-reduces by themselves take ${communicationPercent.toFixed(0)} % of a step's time`
      : '';
  return {
    name: 'speed-up from 1 to the number of ranks',
    passed,
    detail: `${speedup.toFixed(3)} with ${ranks} ranks${passed ? '' : why}`,
  };
}

/** Checksum of values at places that the seed chose, the same for all systems of a comparison. */
const checksumOf = ({ sums }: BlockSample): string =>
  createHash('sha256').update(Float64Array.from(sums)).digest('hex').slice(0, 16);

async function samplesOf(ranks: Ranks, workers: readonly WorkerTenant[], seed: number): Promise<Check[]> {
  const whole = await sampled(ranks.workers[0] as WorkerTenant, 1, seed);
  const sharded = await Promise.all(workers.map((worker) => sampled(worker, workers.length, seed)));
  return [sumCheck(sharded), wholeCheck(whole, sharded[0] as BlockSample)];
}

/** Prepares a rank's part of the block, for that many ranks. */
export const prepareShard = (worker: WorkerTenant, ranks: number, rank: number, sizes: BlockSizes, seed: number) =>
  askSession(worker, { name: 'prepareShard', request: { ...sizes, ranks, rank, seed }, deadlineMs: TASK_MS });

/** Alternates between the whole block on rank 0 and its shards on the first `count` ranks, which must have joined. */
export async function measureSharded(
  ranks: Ranks,
  count: number,
  { rounds, steps }: Steps,
  seed: number,
): Promise<Sharded> {
  const workers = ranks.workers.slice(0, count);
  const first = workers.slice(0, 1);
  const whole: Timed[] = [];
  const sharded: Timed[] = [];
  const reduced: Timed[] = [];
  const kinds = [
    async (of: number) => whole.push(await run(ranks, first, { ranks: 1, kind: 'block', steps: of })),
    async (of: number) => reduced.push(await run(ranks, workers, { ranks: count, kind: 'all-reduces', steps: of })),
    async (of: number) => sharded.push(await run(ranks, workers, { ranks: count, kind: 'block', steps: of })),
  ];
  for (const kind of kinds) await kind(WARM_UP_STEPS);
  for (const all of [whole, sharded, reduced]) all.length = 0;
  // The shards come last, because their results are checked.
  for (let round = 0; round < rounds; round += 1) for (const kind of kinds) await kind(steps);
  // First at random places that could not be known while the steps ran, then at the common places.
  const checks = [
    ...(await samplesOf(ranks, workers, randomInt(MOST_SEED))),
    clockCheck(count, [...whole, ...sharded, ...reduced]),
  ];
  const ms = (all: readonly Timed[]) => Float64Array.from(all, (one) => one.ms);
  return {
    ranks: count,
    whole: ms(whole),
    sharded: ms(sharded),
    reduced: ms(reduced),
    checks,
    checksum: checksumOf(await sampled(workers[0] as WorkerTenant, count, seed)),
  };
}

export const speedups = ({ whole, sharded }: Pick<Sharded, 'whole' | 'sharded'>): Float64Array =>
  whole.map((ms, round) => ms / (sharded[round] as number));

/** `reducedBytes`: added up by a step's all-reduces. */
export function rowOf(measured: Sharded, reducedBytes: number): BlockRow {
  const { ranks, whole, sharded, reduced, checksum } = measured;
  const { value: speedup, ci95 } = serialMedian(speedups(measured));
  const [wholeMs, stepMs, allReducesMs] = [whole, sharded, reduced].map((ms) => median(ms).value) as [
    number,
    number,
    number,
  ];
  return {
    ranks,
    wholeMs,
    stepMs,
    speedup,
    ci95,
    efficiency: speedup / ranks,
    allReducesMs,
    communicationPercent: (100 * allReducesMs) / stepMs,
    busGbPerSecond: (reducedBytes * 2 * (ranks - 1)) / ranks / allReducesMs / 1e6,
    checksum,
  };
}
