/** SCHED-003: how many kernels of independent streams run at the same time, relative to the number that could. */
import * as v from 'valibot';
import type { ConcurrencyRequest, StreamConcurrency } from '../../native/addon-types.js';
import type { Check } from '../../results/document.js';
import { median } from '../../stats/median.js';
import { serialMedian } from '../../stats/serial.js';
import { collect, concat } from '../core/collect.js';
import { count, described, interval, quantity, rowOrReason, rows } from '../core/details.js';
import { outside } from '../core/impossible.js';
import { measureFunction } from '../core/measure-function.js';
import { invalidBy, type MeasureContext, type Measured, type MetricDefinition } from '../core/metric.js';
import { partitionCheck, partitionOrReason, partitionRow } from '../core/partition.js';
import { type RowState, rowState } from '../core/row-state.js';
import { NS_PER_US } from '../core/units.js';

/** Number of streams of the headline. */
const STREAMS = 8;
const OTHERS = [2, 4, 16, 32];
/** Kernels per stream: several, so that the host's time for the first launches matters less. */
const KERNELS = 4;
const KERNEL_NS = 500_000;
/** Most runs of the headline, 2.5 ms each. */
const CAP = { quick: 30, standard: 60, thorough: 200 } as const;
const BLOCK = 10;
const RUNS_OF_OTHERS = { quick: 5, standard: 10, thorough: 20 } as const;
/** Natively, the streams of a card overlap at least this much, in per cent. */
const LEAST_NATIVE = 90;

const details = v.strictObject({
  streams: rows(
    rowOrReason(
      { streams: count('Independent streams') },
      {
        percent: quantity('%', 'Median over runs: kernels that run at the same time on average, of the streams'),
        ci95: interval('%', 'percent'),
        atOnce: quantity('kernels', 'Median over runs: kernels that run at the same time on average'),
        mostAtOnce: count('Most kernels that ran at the same time'),
        kernelAloneUs: quantity('us', 'Median time of a kernel alone'),
        kernelUs: quantity('us', 'Median time of a kernel beside the others'),
        blocksOfKernel: count('Thread blocks of a kernel, each on a multiprocessor of its own'),
        runs: count('Runs'),
      },
    ),
    'A row per number of streams',
  ),
  kernelsOfStream: count('Kernels in each stream'),
  roundsOfKernel: count('Rounds of arithmetic of a kernel'),
  partition: described(
    partitionOrReason,
    'The same work on a part of the multiprocessors that the driver itself sets apart',
  ),
});

export type StreamConcurrencyDetails = v.InferOutput<typeof details>;

type Row = StreamConcurrencyDetails['streams'][number];
type MeasuredRow = Extract<Row, { runs: number }>;

type Shape = Pick<ConcurrencyRequest, 'streams' | 'kernels' | 'kernelNs' | 'partition'>;
const shapeOf = (streams: number): Shape => ({ streams, kernels: KERNELS, kernelNs: KERNEL_NS, partition: 0 });

const percentOf = ({ mean }: StreamConcurrency, streams: number): Float64Array =>
  mean.map((atOnce) => (100 * atOnce) / streams);

async function measureHeadline(context: MeasureContext) {
  const session = await context.session();
  const { iterations, resolution, tier } = context.options;
  const shape = shapeOf(STREAMS);
  // Not counted: the length of a kernel, once for all.
  const { rounds, blocks } = await session.ask('streamConcurrency', { ...shape, rounds: 0, runs: 1 });
  const inPartition = await partitioned(context, { ...shape, partition: (STREAMS / 2) * blocks, rounds });
  const collected = await collect(
    { iterations, resolution, blockSize: BLOCK, cap: CAP[tier] },
    (runs, fraction) => {
      context.progress(`${STREAMS} streams`, fraction);
      return session.block('streamConcurrency', { ...shape, rounds, runs });
    },
    (block) => percentOf(block, STREAMS),
  );
  return { ...collected, rounds, inPartition };
}

/** All streams on the multiprocessors of half of them. */
async function partitioned(
  context: MeasureContext,
  request: Omit<ConcurrencyRequest, 'runs'>,
): Promise<StreamConcurrency | RowState> {
  const session = await context.session();
  context.progress(`a partition of ${request.partition} multiprocessors`, 0);
  try {
    return await session.block('streamConcurrency', { ...request, runs: RUNS_OF_OTHERS[context.options.tier] });
  } catch (error) {
    const state = rowState(error);
    if (!state) throw error;
    return state;
  }
}

/** The same work takes longer there, by how many multiprocessors fewer there are than the streams use at once. */
function partitionOf(
  found: StreamConcurrency | RowState,
  whole: readonly StreamConcurrency[],
): StreamConcurrencyDetails['partition'] {
  if (!('spanNs' in found)) return found;
  const { multiprocessors, blocks } = found;
  const used = STREAMS * blocks;
  const alone = median(concat(...whole.map(({ spanNs }) => spanNs))).value;
  return partitionRow({
    multiprocessors,
    of: whole[0]?.multiprocessors ?? used,
    expectedPercent: 100 * Math.min(1, multiprocessors / used),
    leastPercent: 100 * Math.min(1, Math.floor(multiprocessors / blocks) / STREAMS),
    measuredPercent: (100 * alone) / median(found.spanNs).value,
  });
}

function rowOf(streams: number, blocks: readonly StreamConcurrency[]): MeasuredRow {
  const of = (values: (block: StreamConcurrency) => Float64Array) => median(concat(...blocks.map(values))).value;
  const percent = serialMedian(concat(...blocks.map((block) => percentOf(block, streams))));
  return {
    streams,
    percent: percent.value,
    ci95: percent.ci95,
    atOnce: of(({ mean }) => mean),
    mostAtOnce: Math.max(...blocks.flatMap(({ most }) => [...most])),
    kernelAloneUs: of(({ aloneNs }) => aloneNs) / NS_PER_US,
    kernelUs: of(({ kernelNs }) => kernelNs) / NS_PER_US,
    blocksOfKernel: (blocks[0] as StreamConcurrency).blocks,
    runs: blocks.reduce((sum, { mean }) => sum + mean.length, 0),
  };
}

async function otherRow(context: MeasureContext, streams: number, rounds: number): Promise<Row> {
  const session = await context.session();
  const { iterations, tier } = context.options;
  const runs = Math.min(iterations ?? RUNS_OF_OTHERS[tier], RUNS_OF_OTHERS[tier]);
  context.progress(`${streams} streams`, 1);
  try {
    return rowOf(streams, [await session.block('streamConcurrency', { ...shapeOf(streams), rounds, runs })]);
  } catch (error) {
    const state = rowState(error);
    if (!state) throw error;
    return { streams, ...state };
  }
}

/** There cannot be more running kernels than streams; a larger number would be an error of measurement. */
function possible(measured: readonly MeasuredRow[]): Check {
  const impossible = measured.filter(({ streams, mostAtOnce }) => mostAtOnce > streams);
  return {
    name: 'no more kernels at once than streams',
    passed: impossible.length === 0,
    detail:
      impossible.map(({ streams, mostAtOnce }) => `${mostAtOnce} of ${streams}`).join(', ') ||
      'from the device times of each kernel',
  };
}

export const streamConcurrency: MetricDefinition<StreamConcurrencyDetails> = {
  id: 'SCHED-003',
  name: 'Stream Concurrency Efficiency',
  category: 'scheduling',
  unit: '%',
  direction: 'higher',
  question: 'Does the layer keep independent streams independent?',
  estimator: `median over runs of 100 × kernels that run at the same time on average ÷ ${STREAMS} streams`,
  delta: { absolute: 3 },
  // Something ran.
  impossible: outside(Number.MIN_VALUE, 100),
  needs: ['concurrent kernels'],
  functionName: 'measureStreamConcurrency',
  where: 'process',
  besideNative: (_own, { value }) =>
    value !== null && value < LEAST_NATIVE
      ? `the native arm reached ${value.toFixed(1)} %, less than ${LEAST_NATIVE} %: its streams do not overlap either`
      : null,
  lineCharts: [
    {
      title: 'Kernels that run at the same time, by number of independent streams',
      axes: { x: 'streams', y: 'kernels at once, on average' },
      rows: 'streams',
      point: { x: 'streams', y: 'atOnce' },
    },
  ],
  details,
  seconds: { quick: 1, standard: 1, thorough: 3 },
  async measure(context): Promise<Measured<StreamConcurrencyDetails>> {
    const { blocks, samples, estimate, rounds, inPartition } = await measureHeadline(context);
    const headline = rowOf(STREAMS, blocks);
    const others: Row[] = [];
    for (const streams of OTHERS) others.push(await otherRow(context, streams, rounds));
    const table = [...others, headline].sort((a, b) => a.streams - b.streams);
    const partition = partitionOf(inPartition, blocks);
    const bounded = possible(table.filter((row): row is MeasuredRow => 'mostAtOnce' in row));
    return {
      ...invalidBy([bounded]),
      ...estimate,
      headline: samples,
      details: { streams: table, kernelsOfStream: KERNELS, roundsOfKernel: rounds, partition },
      checks: [bounded, partitionCheck(partition)],
    };
  },
};

/**
 * SCHED-003, %: how many kernels of 8 independent streams run at the same time, of 8, by the device's clock.
 * `details.streams[]` has 2 to 32 streams: how many at once on average and at most, and what a kernel takes alone and
 * beside the others; `details.partition` the same work on a part of the multiprocessors that the driver itself sets apart
 * (a green context), which the metric must find. `iterations` is the number of runs.
 */
export const measureStreamConcurrency = measureFunction(streamConcurrency);
