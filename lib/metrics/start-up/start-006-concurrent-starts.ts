/** START-006: fresh processes released together, and what each one more costs the others until their first result. */
import * as v from 'valibot';
import { mean } from '../../stats/mean.js';
import { median } from '../../stats/median.js';
import { type Point, slope } from '../../stats/slope.js';
import { summarise } from '../../stats/summary.js';
import type { StartUpAnswer, WorkerStart } from '../../workers/start-up.js';
import type { ProcessStart } from '../../workers/launcher.js';
import {
  PROCESSES,
  resultCheck,
  startChecks,
  startContext,
  startDetails,
  startMany,
} from '../tenants/fresh-processes.js';
import { early, earlyInitialisation } from '../tenants/early-initialisation.js';
import { choice, count, described, interval, quantity, rows, text } from '../core/details.js';
import {
  invalidBy,
  type Measured,
  type MeasureContext,
  type MetricDefinition,
  unsupported,
  withoutNumber,
} from '../core/metric.js';
import { inOneTenant } from '../tenants/scene.js';
import { NS_PER_MS } from '../core/units.js';
import { type Capacity, capacityBy, capacitySchema } from './capacity.js';
import { type Release, release } from '../core/releases.js';
import { measureFunction } from '../core/measure-function.js';

const SIZES = { quick: [1, 10], standard: [1, 10], thorough: [1, 10, 50, 100] } as const;
/** Releases with more than one process; at tier `thorough` as many as p99 of 100 processes needs. */
const RELEASES = { quick: 1, standard: 1, thorough: 3 } as const;

const processes = count('Processes released together');

const slopeOf = (about: string) =>
  v.nullable(
    described(
      v.strictObject({
        msPerProcess: quantity('ms', 'What one more process adds'),
        ci95: interval('ms', 'msPerProcess'),
        releases: count('Releases behind the slope'),
      }),
      `${about}; null with one number of processes`,
    ),
  );

const details = v.strictObject({
  largest: count('The most processes that were released together: those of the value'),
  topology: choice(['shared'], 'All are processes of one tenant'),
  starts: rows(
    v.union([
      v.strictObject({
        processes,
        releases: count('Releases of that many'),
        tries: rows(count('Tries'), 'For each release, how often it was tried until all were ready in time'),
        meanMs: quantity('ms', 'Mean time from the release to the first result'),
        ci95: interval('ms', 'meanMs'),
        beforeInitMs: quantity('ms', 'The part of meanMs before cuInit: waiting for a processor, loading the driver'),
        fromInitMs: quantity('ms', 'The part of meanMs from the call of cuInit'),
        p99Ms: v.nullable(quantity('ms', '99th percentile of the times; null with too few processes')),
        totalMs: quantity('ms', 'Median over releases of the time to the last first result'),
        addedMs: v.nullable(
          quantity('ms', 'What each process more than in the row before adds to meanMs; null in the first row'),
        ),
        lateMs: quantity('ms', 'Longest time from a release until its last process began'),
        commonMs: v.nullable(
          quantity('ms', 'Shortest time in which all were starting; null if in some release they were not'),
        ),
        initMs: quantity('ms', 'Median time of cuInit'),
        contextMs: quantity('ms', 'Median time of the creation of the context'),
        spawnMs: quantity('ms', 'Median time from the spawn of a process to its first statement, before the release'),
        slowestSpawnMs: quantity('ms', 'Longest of these times'),
      }),
      v.strictObject({ processes, failed: text('Why they could not be started') }),
      v.strictObject({ processes, leftOut: text('Why they were not started') }),
    ]),
    'A row per number of processes',
  ),
  slopes: described(
    v.strictObject({
      mean: slopeOf('Slope of the mean time to the first result'),
      total: slopeOf('Slope of the time to the last first result'),
    }),
    'What one more process costs the others',
  ),
  capacity: described(capacitySchema, 'How many processes fit, from one that was started alone'),
  context: startContext,
});

export type ConcurrentStartsDetails = v.InferOutput<typeof details>;
type StartsRow = ConcurrentStartsDetails['starts'][number];

interface Group {
  processes: number;
  releases: Release[];
}
type LeftOut = Exclude<StartsRow, { meanMs: number }>;

const milli = (nanoseconds: number): number => nanoseconds / NS_PER_MS;

async function measureGroups(context: MeasureContext, process: ProcessStart, sizes: readonly number[]) {
  const { iterations, tier } = context.options;
  const groups: Group[] = [];
  const without: LeftOut[] = [];
  for (const [i, processes] of sizes.entries()) {
    const smaller = without.at(-1);
    if (smaller) {
      without.push({ processes, leftOut: `${smaller.processes} did not fit` });
      continue;
    }
    const count = iterations ?? (processes === 1 ? PROCESSES : RELEASES)[tier];
    const releases: Release[] = [];
    for (let n = 0; n < count && without.length === 0; n++) {
      context.progress(`${processes} at once, ${n + 1} of ${count}`, (i + n / count) / sizes.length);
      const outcome = await release(context, process, processes);
      if ('noRoom' in outcome) without.push({ processes, failed: outcome.noRoom });
      else releases.push(outcome);
    }
    if (without.length === 0) groups.push({ processes, releases });
  }
  return { groups, without };
}

const meansOf = ({ releases }: Group): number[] => releases.map(({ firstResults }) => milli(mean(firstResults).value));

/** Time from the call of cuInit to the first result, in nanoseconds. */
const fromInit = ({ beganAtNs, loadNs, resolveNs, firstResultAtNs }: WorkerStart): number =>
  firstResultAtNs - beganAtNs - loadNs - resolveNs;

/**
 * Shortest common time of all starts, in milliseconds; null if in some release not all were starting at the same time.
 */
function shortestCommon(releases: readonly Release[]): number | null {
  const known = releases.flatMap(({ common }) => common ?? []);
  return known.length === releases.length ? milli(Math.min(...known)) : null;
}

/** `smaller` is the group with the next smaller number of processes. */
function row(group: Group, smaller: Group | undefined): StartsRow {
  const { processes, releases } = group;
  const times = releases.flatMap(({ firstResults }) => firstResults.map(milli));
  const starts = releases.flatMap((one) => one.starts);
  const spawns = releases.flatMap((one) => one.spawns.map(milli));
  const { value, ci95 } = mean(meansOf(group));
  const fromInitMs = milli(mean(starts.map(fromInit)).value);
  return {
    processes,
    releases: releases.length,
    tries: releases.map(({ tries }) => tries),
    meanMs: value,
    ci95,
    // The parts of the mean: waiting for a processor and loading the driver, and the driver's own work.
    beforeInitMs: value - fromInitMs,
    fromInitMs,
    p99Ms: summarise(times)?.p99 ?? null,
    totalMs: median(releases.map(({ total }) => milli(total))).value,
    addedMs: smaller ? (value - mean(meansOf(smaller)).value) / (processes - smaller.processes) : null,
    lateMs: milli(Math.max(...releases.map(({ late }) => late))),
    commonMs: shortestCommon(releases),
    initMs: milli(median(starts.map(({ initNs }) => initNs)).value),
    contextMs: milli(median(starts.map(({ contextNs }) => contextNs)).value),
    // The time before the release, in which that many processes or containers are started at once.
    spawnMs: median(spawns).value,
    slowestSpawnMs: Math.max(...spawns),
  };
}

/** The cost of one more process to the others on average, and to the last of them. */
function slopes(groups: readonly Group[]) {
  const through = (timeOf: (one: Release) => number) => {
    const points = groups.flatMap(({ processes, releases }) =>
      releases.map((one): Point => [processes, milli(timeOf(one))]),
    );
    const found = slope(points);
    return found && { msPerProcess: found.value, ci95: found.ci95, releases: points.length };
  };
  return { mean: through(({ firstResults }) => mean(firstResults).value), total: through(({ total }) => total) };
}

/** Numbers of processes: as planned, or as many as memory allows. */
const sizesWithin = (capacity: Capacity, tier: keyof typeof SIZES): number[] => [
  ...new Set(SIZES[tier].map((size) => Math.min(size, capacity.processes))),
];

function measuredGroups(
  groups: readonly Group[],
  largest: Group,
  starts: StartsRow[],
  alone: StartUpAnswer,
  capacity: Capacity,
): Measured<ConcurrentStartsDetails> {
  const answers = groups.flatMap(({ releases }) => releases.flatMap((one) => one.starts));
  const checks = [...startChecks([alone]), { ...resultCheck(answers), name: 'first results of all correct' }];
  const means = meansOf(largest);
  return {
    ...invalidBy(checks),
    // Everything after the release is part of the times.
    ...early(earlyInitialisation([alone, ...answers], ['process start'])),
    ...mean(means),
    processes: largest.processes * largest.releases.length,
    ciScope: 'between-processes',
    headline: Float64Array.from(largest.releases.flatMap(({ firstResults }) => firstResults.map(milli))),
    blocks: Float64Array.from(means),
    details: {
      largest: largest.processes,
      topology: 'shared',
      starts,
      slopes: slopes(groups),
      capacity,
      ...startDetails([alone]),
    },
    checks,
  };
}

export const concurrentStarts: MetricDefinition<ConcurrentStartsDetails> = {
  id: 'START-006',
  name: 'Concurrent Starts',
  category: 'start-up',
  unit: 'ms',
  direction: 'lower',
  question: 'Do processes that start at the same time wait for one another?',
  estimator: 'mean time from the release to the first result, with the most processes released together',
  delta: { relative: 0.05 },
  contains: ['START-002'],
  comparedAt: { name: 'largest', of: ({ largest }) => largest },
  needs: ['fresh processes', 'memory for many contexts'],
  functionName: 'measureConcurrentStarts',
  where: 'fresh-processes',
  lineCharts: [
    {
      title: 'Time to the first result against processes',
      axes: { x: 'processes started at once', y: 'ms, mean' },
      rows: 'starts',
      point: { x: 'processes', y: 'meanMs' },
    },
  ],
  details,
  seconds: { quick: 8, standard: 8, thorough: 300 },
  measure: (context) =>
    inOneTenant(context, async (process) => {
      const discarded = context.options.warmup ?? 0;
      const first = { contextApi: 'cuDevicePrimaryCtxRetain', count: discarded + 1, done: 0 } as const;
      const alone = (await startMany(context, { ...first, total: discarded + 1 })).at(-1) as StartUpAnswer;
      const capacity = capacityBy(alone);
      if (capacity.cores < 2) return unsupported('starts cannot be concurrent on one core', { capacity });
      if (capacity.processes < 2)
        return unsupported(`${capacity.limitedBy} has room for one process at a time`, { capacity });
      const { groups, without } = await measureGroups(context, process, sizesWithin(capacity, context.options.tier));
      const starts = [...groups.map((group, i) => row(group, groups[i - 1])), ...without];
      const largest = groups.at(-1);
      if (largest && largest.processes > 1) return measuredGroups(groups, largest, starts, alone, capacity);
      const failed = without.flatMap((one) => ('failed' in one ? one.failed : []));
      return withoutNumber('failed', failed[0] ?? 'no start was measured', { starts, capacity });
    }),
};

/**
 * START-006, ms: mean time from the simultaneous release of many fresh processes to the first result of each, at the
 * largest number of them (`details.largest`); `details.starts[]` has one row per number, `details.slopes` the cost of
 * one more process. `iterations` is how often each number is released.
 */
export const measureConcurrentStarts = measureFunction(concurrentStarts);
