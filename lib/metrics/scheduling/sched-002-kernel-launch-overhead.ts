/**
 * SCHED-002: the cost per launch when launches follow one another without a wait, which gives the highest kernel rate.
 */
import { availableParallelism } from 'node:os';
import * as v from 'valibot';
import type { BurstRequest, LaunchBursts } from '../../native/addon-types.js';
import type { Check } from '../../results/document.js';
import { serialMedian } from '../../stats/serial.js';
import { collect, concat } from '../core/collect.js';
import { choice, count, described, interval, quantity, rowOrReason, rows, text } from '../core/details.js';
import { measureFunction } from '../core/measure-function.js';
import { invalidBy, type MeasureContext, type Measured, type MetricDefinition } from '../core/metric.js';
import { type RowState, rowState } from '../core/row-state.js';
import { NS_PER_US, scaled } from '../core/units.js';

/** Launches per burst: many times the length of a driver's queue, so that a full queue shows in the result. */
const LAUNCHES = 20_000;
const NODES = 100;
const THREADS = 4;
const STREAMS = 4;
const WARMUP = 500;
const CAP = { quick: 15, standard: 30, thorough: 30 } as const;
const LEAST = 6;
/** The other rows have one burst for this many of the headline's. */
const OTHERS_EVERY = 3;
/** Launches at a pace that no quota has to delay: one kernel of 10 us per millisecond. */
const PACED = { call: 'cuLaunchKernel', periodNs: 1_000_000, spinNs: 10_000, grid: 1, warmup: 5 } as const;
const PACED_LAUNCHES = { quick: 150, standard: 300, thorough: 1_000 } as const;

/** Fraction of a launch's time in which the device runs its kernel; above it, the device is the bottleneck. */
const MOST_DEVICE = 0.95;

const CALLS = [
  'cuLaunchKernel',
  'cuLaunchKernelEx',
  'cuGraphLaunch',
] as const satisfies readonly BurstRequest['call'][];

const details = v.strictObject({
  rows: rows(
    rowOrReason(
      {
        row: text('How kernels are launched'),
        call: choice(CALLS, 'The launch call'),
        threads: count('Threads that launch'),
        streams: count('Streams of all threads'),
      },
      {
        usPerKernel: quantity('us', 'Median time of a burst until all its kernels are over, per kernel'),
        ci95: interval('us', 'usPerKernel'),
        submitUsPerKernel: quantity('us', 'Median time of a burst until all its calls have returned, per kernel'),
        kernelsPerSecond: quantity('kernels/s', 'Rate that follows from usPerKernel'),
        bursts: count('Bursts'),
        kernelsOfBurst: count('Kernels of a burst'),
      },
    ),
    'A row per way to launch',
  ),
  paced: described(
    v.strictObject({
      row: text('How kernels are launched'),
      submitUs: quantity('us', 'Median time from the call to its return'),
      ci95: interval('us', 'submitUs'),
      count: count('Launches'),
    }),
    'Launches at a pace that no quota has to delay',
  ),
  deviceUsPerKernel: v.nullable(
    quantity('us', 'Shortest time of the device per kernel of a graph; null if no graph could be launched'),
  ),
  launchesPerSecond: quantity('launches/s', 'Rate that follows from the value'),
});

export type LaunchOverheadDetails = v.InferOutput<typeof details>;

interface Row {
  /** Name of the row in the details. */
  name: string;
  request: Pick<BurstRequest, 'launches' | 'nodes' | 'threads' | 'streams'> & { call: (typeof CALLS)[number] };
  bursts: LaunchBursts[];
  state: RowState | null;
}

const HEADLINE = 'cuLaunchKernel';
const GRAPH = `graph of ${NODES} kernels`;
const ONE = { nodes: 1, threads: 1, streams: 1, launches: LAUNCHES } as const;

function rowsOf(cores: number): Row[] {
  const threads = Math.min(THREADS, cores);
  const row = (name: string, request: Row['request'], state: RowState | null = null): Row => ({
    name,
    request,
    bursts: [],
    state,
  });
  const alone = { unsupported: 'only one processor is usable: threads would wait for each other' };
  return [
    row(HEADLINE, { ...ONE, call: 'cuLaunchKernel' }),
    row('cuLaunchKernelEx', { ...ONE, call: 'cuLaunchKernelEx' }),
    row(GRAPH, { ...ONE, call: 'cuGraphLaunch', nodes: NODES, launches: LAUNCHES / NODES }),
    row(
      `${threads} threads, ${STREAMS} streams each`,
      { ...ONE, call: 'cuLaunchKernel', threads, streams: STREAMS, launches: LAUNCHES - (LAUNCHES % threads) },
      cores < 2 ? alone : null,
    ),
  ];
}

const perKernel = ({ kernels, totalNs }: LaunchBursts): Float64Array => totalNs.map((ns) => ns / kernels);

async function measureOne(context: MeasureContext, row: Row, bursts: number): Promise<void> {
  if (row.state) return;
  const session = await context.session();
  const { seed } = context.options;
  const core = seed + row.bursts.length;
  const warmup = row.bursts.length > 0 ? 0 : Math.min(context.options.warmup ?? WARMUP, row.request.launches);
  try {
    row.bursts.push(await session.block('launchBursts', { ...row.request, bursts, warmup, core }));
  } catch (error) {
    row.state = row.name === HEADLINE ? null : rowState(error);
    if (!row.state) throw error;
  }
}

/** The rows take turns, each burst on another core, so that a disturbed core affects only a few bursts of each row. */
async function measureRows(context: MeasureContext): Promise<Row[]> {
  const { iterations, resolution, tier } = context.options;
  const rows = rowsOf(availableParallelism());
  const [headline, ...others] = rows as [Row, ...Row[]];
  let turn = 0;
  await collect(
    { iterations, resolution, blockSize: Math.min(LEAST, iterations ?? LEAST), cap: CAP[tier] },
    async (count, fraction) => {
      const first = headline.bursts.length;
      for (let i = 0; i < count; i++, turn++) {
        context.progress(headline.name, fraction);
        await measureOne(context, headline, 1);
        if (turn % OTHERS_EVERY === 0) for (const row of others) await measureOne(context, row, 1);
      }
      return headline.bursts.slice(first);
    },
    (bursts) => concat(...bursts.map(perKernel)),
  );
  return rows;
}

async function pacedRow(context: MeasureContext): Promise<LaunchOverheadDetails['paced']> {
  const session = await context.session();
  const { seed, tier, iterations } = context.options;
  context.progress('paced', 1);
  const count = iterations === null ? PACED_LAUNCHES[tier] : Math.min(iterations, PACED_LAUNCHES[tier]);
  const { tookNs } = await session.ask('pacedLaunches', { ...PACED, count, core: seed });
  const { value, ci95 } = scaled(serialMedian(tookNs), NS_PER_US);
  return { row: 'cuLaunchKernel, one a millisecond', submitUs: value, ci95, count };
}

const medianUs = (values: Float64Array) => scaled(serialMedian(values), NS_PER_US);

function describe({ name, request, bursts, state }: Row): LaunchOverheadDetails['rows'][number] {
  const head = { row: name, call: request.call, threads: request.threads, streams: request.threads * request.streams };
  if (state) return { ...head, ...state };
  const { value, ci95 } = medianUs(concat(...bursts.map(perKernel)));
  const submit = medianUs(concat(...bursts.map(({ submitNs, kernels }) => submitNs.map((ns) => ns / kernels))));
  return {
    ...head,
    usPerKernel: value,
    ci95,
    submitUsPerKernel: submit.value,
    kernelsPerSecond: 1e6 / value,
    bursts: bursts.length,
    kernelsOfBurst: (bursts[0] as LaunchBursts).kernels,
  };
}

function deviceUs(rows: readonly Row[]): number | null {
  const times = rows.flatMap(({ bursts }) => bursts.flatMap(({ deviceNs }) => deviceNs ?? []));
  return times.length > 0 ? Math.min(...times) / NS_PER_US : null;
}

/** Otherwise the measurement shows the device's kernel rate, and no host could be faster. */
function hostBound(usPerLaunch: number, deviceUsPerKernel: number | null): Check {
  const name = 'the host is slower than the device';
  if (deviceUsPerKernel === null)
    return {
      name,
      passed: 'not checked',
      detail: 'no graph could be launched, so the device time per kernel is unknown',
    };
  return {
    name,
    passed: deviceUsPerKernel < MOST_DEVICE * usPerLaunch,
    detail: `a kernel of a graph takes the device ${deviceUsPerKernel.toFixed(3)} us, a launch ${usPerLaunch.toFixed(3)} us`,
  };
}

export const kernelLaunchOverhead: MetricDefinition<LaunchOverheadDetails> = {
  id: 'SCHED-002',
  name: 'Kernel Launch Overhead',
  category: 'scheduling',
  unit: 'us',
  direction: 'lower',
  question: 'How many kernels a second can a program launch through the layer?',
  estimator: `median over bursts of ${LAUNCHES} launches without a wait: time until all are over, per launch`,
  delta: { relative: 0.05 },
  needs: [],
  functionName: 'measureLaunchOverhead',
  where: 'process',
  details,
  seconds: { quick: 2, standard: 4, thorough: 5 },
  async measure(context): Promise<Measured<LaunchOverheadDetails>> {
    const measured = await measureRows(context);
    const paced = await pacedRow(context);
    const [headline] = measured as [Row];
    const samples = concat(...headline.bursts.map(perKernel)).map((ns) => ns / NS_PER_US);
    const { value, ci95 } = serialMedian(samples);
    const device = deviceUs(measured);
    const checks = [
      hostBound(value, device),
      {
        name: 'every launch ran before its wait returned',
        passed: true as const,
        detail: `${LAUNCHES} kernels a burst counted on the device, the last stamp seen by the host`,
      },
    ];
    return {
      ...invalidBy(checks),
      value,
      ci95,
      headline: samples,
      details: { rows: measured.map(describe), paced, deviceUsPerKernel: device, launchesPerSecond: 1e6 / value },
      checks,
    };
  },
};

/**
 * SCHED-002, µs: cost per launch in bursts of 20 000 launches without a wait in between; `details.rows[]` has
 * cuLaunchKernelEx, a graph of 100 kernels (cost per kernel), and several threads with four streams each;
 * `details.paced` has the duration of the call at a pace that no quota has to delay. `iterations` is the number of
 * bursts.
 */
export const measureLaunchOverhead = measureFunction(kernelLaunchOverhead);
