/** IS-007: how evenly a tenant is served beside steady neighbours, in windows of 100 ms. */
import * as v from 'valibot';
import { count, described, quantity } from '../core/details.js';
import { quotaPercent, shareLines } from './share-fields.js';
import { mean, medianAbsoluteDeviation, median as middle, sampleStandardDeviation } from 'simple-statistics';
import type { Aggression, Load } from '../../native/addon-types.js';
import type { Check, Tier } from '../../results/document.js';
import { summarise } from '../../stats/summary.js';
import { figureOfWindows } from '../../stats/figure-of-windows.js';
import { sessionTaskOf } from '../../workers/session-task.js';
import type { WorkerTenant } from '../../workers/worker-tenant.js';
import { measureFunction } from '../core/measure-function.js';
import {
  invalidBy,
  type MeasureContext,
  type Measured,
  type MetricDefinition,
  unsupported,
  withoutNumber,
} from '../core/metric.js';
import { windowInterval } from '../core/sample-stats.js';
import { isOutOfMemory } from '../core/row-state.js';
import { contextOf, processContext } from '../tenants/tenants.js';
import { idleReason } from './shared/aggressor-menu.js';
import {
  amongTenants,
  BIN_MS,
  type CommonBins,
  commonBins,
  type CoTenants,
  type Quota,
  setsQuotas,
  shareLine,
  type WholeCard,
  wholeCard,
} from './shared/co-tenants.js';
import { NS_PER_MS } from '../core/units.js';

interface ConsistencyTimes {
  aloneMs: number;
  togetherMs: number;
}

const TIMES: Record<Tier, ConsistencyTimes> = {
  quick: { aloneMs: 500, togetherMs: 1_000 },
  standard: { aloneMs: 2_000, togetherMs: 5_000 },
  thorough: { aloneMs: 10_000, togetherMs: 30_000 },
};
/** 1 measured, 2 that compute, 1 that reads memory. */
const TENANTS = 4;
const BANDWIDTH = 3;
/** The neighbour that reads memory runs a little longer than the others. */
const TAIL_MS = 100;
const FEWEST_WINDOWS = 5;
/** Ratio of the standard deviation to the median absolute deviation for normally distributed values. */
const MAD_TO_SD = 1.4826;

const steadiness = v.strictObject({
  windows: count('Windows'),
  idleWindows: count('Windows without any work'),
  cv: quantity('ratio', 'Standard deviation of the work by its mean'),
  robustCv: v.nullable(
    quantity('ratio', 'The same by the median absolute deviation and the median; null if the median is 0'),
  ),
  lag1: v.nullable(quantity('ratio', 'Autocorrelation between consecutive windows; null if all are equal')),
});

/** Statistics of the work per window. */
export type Steadiness = v.InferOutput<typeof steadiness>;

const served = (about: string) =>
  described(
    v.nullable(
      v.strictObject({
        ...steadiness.entries,
        kernels: described(
          v.strictObject({
            p50Ms: v.nullable(quantity('ms', 'Median; null without any')),
            p99Ms: v.nullable(quantity('ms', '99th percentile; null with too few')),
            p99OverP50: v.nullable(quantity('ratio', 'The one by the other; null if one is missing')),
          }),
          'Durations of its latest kernels',
        ),
      }),
    ),
    about,
  );

const details = v.strictObject({
  limitPercent: quotaPercent,
  binMs: quantity('ms', 'Length of a window'),
  together: served('Work of the tenant per window, beside its neighbours; null if the result is not valid'),
  alone: served('Work of the tenant per window, alone; null with fewer than two windows'),
  neighbourIdleWindows: described(
    v.array(count('Windows')),
    'Windows in which each neighbour made no progress although it had work',
  ),
  shares: shareLines,
  context: v.optional(processContext),
});

export type ConsistencyDetails = v.InferOutput<typeof details>;

const cvOf = (work: readonly number[]): number => sampleStandardDeviation([...work]) / mean([...work]);

/** Needs at least two windows, and some work. */
export function steadinessOf(work: readonly number[]): Steadiness {
  const typical = middle([...work]);
  const average = mean([...work]);
  const apart = work.map((of) => of - average);
  const variance = apart.reduce((sum, of) => sum + of * of, 0);
  const neighbours = apart.slice(1).reduce((sum, of, i) => sum + of * (apart[i] as number), 0);
  return {
    windows: work.length,
    idleWindows: without(work),
    cv: cvOf(work),
    robustCv: typical === 0 ? null : (MAD_TO_SD * medianAbsoluteDeviation([...work])) / typical,
    lag1: variance === 0 ? null : neighbours / variance,
  };
}

/** Durations of the latest kernels, which are listed. */
function kernelTimes({ kernelsListed }: Load) {
  const stats = summarise(kernelsListed.tookNs);
  const ms = (ns: number | null | undefined) => (ns == null ? null : ns / NS_PER_MS);
  const [p50Ms, p99Ms] = [ms(stats?.p50), ms(stats?.p99)];
  return { p50Ms, p99Ms, p99OverP50: p50Ms === null || p99Ms === null ? null : p99Ms / p50Ms };
}

interface Together {
  loads: Load[];
  common: CommonBins;
  /** For each neighbour, the number of windows without progress although work was queued. */
  idleWindows: number[];
}

/** The number of windows without a mark of progress by the neighbour that reads memory. */
function windowsWithoutMarks({ marksNs }: Aggression, measured: Load, { first, work }: CommonBins): number {
  const binOf = (mark: number) => Math.floor((mark - measured.hostOriginNs) / (BIN_MS * NS_PER_MS)) - first;
  const seen = new Set(marksNs.map(binOf));
  return (work[0] as number[]).filter((_, bin) => !seen.has(bin)).length;
}

const without = (work: readonly number[]): number => work.filter((of) => of === 0).length;

interface NotTogether {
  status: 'invalid' | 'unsupported';
  reason: string;
}

async function loadTogether(tenants: CoTenants, durationMs: number): Promise<Together | NotTogether> {
  const bandwidth = tenants.workers[BANDWIDTH] as WorkerTenant;
  const windowNs = (durationMs + TAIL_MS) * NS_PER_MS;
  const stream = sessionTaskOf('aggressor', { kind: 'dramStream', windowNs, quotaBytes: 0 });
  const computing = tenants.workers.slice(0, BANDWIDTH);
  const task = tenants.task({ durationMs, binMs: BIN_MS });
  const tasks = new Map([...computing.map((worker) => [worker, task] as const), [bandwidth, stream] as const]);
  const answers = await tenants.together(tasks, durationMs);
  const loads = answers.slice(0, BANDWIDTH) as Load[];
  const aggression = answers[BANDWIDTH] as Aggression;
  const idle = idleReason(aggression);
  if (idle !== null) {
    const status = aggression.missing === null ? 'invalid' : 'unsupported';
    return { status, reason: `the neighbour that reads memory did not run: ${idle}` };
  }
  const common = commonBins(loads, BIN_MS);
  if (!common) return { status: 'invalid', reason: 'the tenants had no window in common' };
  const idleWindows = [...common.work.slice(1).map(without), windowsWithoutMarks(aggression, loads[0] as Load, common)];
  return { loads, common, idleWindows };
}

function checksOf({ common, idleWindows }: Together): Check[] {
  const work = common.work[0] as number[];
  return [
    {
      name: 'enough windows in common',
      passed: work.length >= FEWEST_WINDOWS,
      detail: `${work.length} windows of ${BIN_MS} ms`,
    },
    {
      name: 'every neighbour worked',
      passed: idleWindows.every((idle) => idle < work.length),
      detail: `without progress in ${idleWindows.join(', ')} of ${work.length} windows`,
    },
    {
      name: 'the tenant was served at all',
      passed: work.some((of) => of > 0),
      detail: `nothing in ${without(work)} of ${work.length} windows`,
    },
  ];
}

async function play(
  context: MeasureContext,
  tenants: CoTenants,
  quota: Quota,
  { whole, times }: { whole: WholeCard; times: ConsistencyTimes },
): Promise<Measured<ConsistencyDetails>> {
  const [alone] = (await tenants.load([0], { durationMs: times.aloneMs, binMs: BIN_MS })) as [Load];
  context.progress('alone', 0.3);
  const together = await loadTogether(tenants, times.togetherMs);
  const entered = contextOf(tenants.scene.scene);
  if ('reason' in together)
    return withoutNumber(together.status, `neighbours: ${together.reason}`, { context: entered });
  const { common, idleWindows, loads } = together;
  const work = common.work[0] as number[];
  const aloneWork = commonBins([alone], BIN_MS)?.work[0] ?? [];
  const checks = checksOf(together);
  const lines = loads.map((_, place) =>
    shareLine(place === 0 ? 'tenant' : `neighbour ${place}`, quota, BIN_MS, common.work[place] as number[], whole),
  );
  const valid = checks.every(({ passed }) => passed === true);
  return {
    ...invalidBy(checks),
    value: valid ? cvOf(work) : null,
    ...windowInterval(
      valid &&
        figureOfWindows([work.length], ([windows]) => cvOf((windows as number[]).map((i) => work[i] as number)), {
          isPositive: true,
        }).ci95,
    ),
    ciScope: 'within-process',
    processes: TENANTS,
    headline: null,
    details: {
      limitPercent: quota,
      binMs: BIN_MS,
      together: valid ? { ...steadinessOf(work), kernels: kernelTimes(loads[0] as Load) } : null,
      alone: aloneWork.length >= 2 ? { ...steadinessOf(aloneWork), kernels: kernelTimes(alone) } : null,
      neighbourIdleWindows: idleWindows,
      shares: [shareLine('tenant, alone', quota, BIN_MS, aloneWork, whole), ...lines],
      context: entered,
    },
    checks,
  };
}

/** With given times, for tests; without them the tier decides. */
export const consistencyBy =
  (times?: ConsistencyTimes): MetricDefinition<ConsistencyDetails>['measure'] =>
  async (context) => {
    const quota = setsQuotas(context) ? 100 / TENANTS : null;
    try {
      const plan = { whole: await wholeCard(context), times: times ?? TIMES[context.options.tier] };
      return await amongTenants(context, Array<Quota>(TENANTS).fill(quota), (tenants) =>
        play(context, tenants, quota, plan),
      );
    } catch (error) {
      if (isOutOfMemory(error)) return unsupported(`${TENANTS} tenants do not fit: ${error.message}`);
      throw error;
    }
  };

export const consistency: MetricDefinition<ConsistencyDetails> = {
  id: 'IS-007',
  name: 'QoS Consistency',
  category: 'isolation',
  unit: 'ratio',
  direction: 'lower',
  question: 'How bursty is the service that a tenant gets?',
  estimator:
    'standard deviation ÷ mean of the work in windows of 100 ms, beside three steady neighbours; each has a quarter of the card, whatever limit is configured, if the system sets limits',
  delta: { absolute: 0.02 },
  needs: ['four tenants'],
  functionName: 'measureConsistency',
  where: 'fresh-processes',
  details,
  seconds: { quick: 4, standard: 12, thorough: 46 },
  measure: consistencyBy(),
};

/**
 * IS-007: the coefficient of variation of a tenant's work in windows of 100 ms beside two neighbours that compute and
 * one that reads memory, each with a quota of 25 % if the system sets quotas. Windows without any work count.
 * `details.alone` has the same without neighbours. `iterations` and `resolution` do not apply.
 */
export const measureConsistency = measureFunction(consistency);
