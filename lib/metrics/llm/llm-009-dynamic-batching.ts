/** LLM-009: how much the steps of a batching server vary at equal batch size, alone and beside others. */
import * as v from 'valibot';
import type { DynamicBatching, DynamicBatchingRequest } from '../../native/addon-types.js';
import type { Check, Tier } from '../../results/document.js';
import { summarise } from '../../stats/summary.js';
import { overlapAtWork } from '../../workers/activity.js';
import { askSession, sessionTaskOf } from '../../workers/session-task.js';
import type { Task, WorkerTenant } from '../../workers/worker-tenant.js';
import { count, interval, quantity, rows, text } from '../core/details.js';
import { measureFunction } from '../core/measure-function.js';
import { invalidBy, type MeasureContext, type Measured, type MetricDefinition, unsupported } from '../core/metric.js';
import { isOutOfMemory, unlessFull } from '../core/row-state.js';
import { windowInterval } from '../core/sample-stats.js';
import { grown, type Populated, separable, withTenants } from '../tenants/tenants.js';
import { NS_PER_MS, NS_PER_US } from '../core/units.js';
import { meanBatch, type Steps, type StepVariation, stepVariation } from './step-variation.js';
import { describedWeights, weightsField } from './weights.js';

interface Times {
  /** Alone: number of steps to run. */
  steps: number;
  coTenants: number;
  togetherMs: number;
}
const TIMES: Record<Tier, Times> = {
  quick: { steps: 2_000, coTenants: 1, togetherMs: 400 },
  standard: { steps: 4_000, coTenants: 3, togetherMs: 1_000 },
  thorough: { steps: 10_000, coTenants: 3, togetherMs: 5_000 },
};
type Sizes = Pick<DynamicBatchingRequest, 'n' | 'k' | 'layers'>;
/** Determined by the device's L2 cache and memory. */
const SIZES: Sizes = { n: 0, k: 0, layers: 0 };
/** Steps of about the same length on a simulated card, which computes only the sampled layer. */
const SIMULATED: Sizes = { n: 2_048, k: 4_096, layers: 32 };
const MOST_BATCH = 8;
/** Load relative to the capacity; co-tenants share it. */
const LOAD = 0.7;
/** Smallest number of steps per batch size. */
const ENOUGH_STEPS = 200;
/** Smallest number of steps per batch size in the shorter time beside co-tenants. */
const FEWEST_BESIDE = 30;
/** When alone: even a card that is a hundred times slower finishes its steps by then. */
const LONGEST_MS = 20_000;
/** Fraction of the window during which late arrivals are still served. */
const OVERRUN = 0.25;
/** Enough lead time for every tenant to fill its weights. */
const LEADS = 6;
const DEADLINE_MS = 180_000;

const details = v.strictObject({
  weights: weightsField,
  variant: text('The kernel that ran'),
  mostBatch: count('Most sequences in a step'),
  load: quantity('ratio', 'Arrivals of all tenants, relative to the capacity of one that is alone'),
  capacityPerSecond: v.nullable(
    quantity('sequences/s', 'Capacity: throughput of steps of the largest batch back to back, alone'),
  ),
  rows: rows(
    v.strictObject({
      coTenants: count('Other tenants, which share the load'),
      cv: v.nullable(
        quantity(
          'ratio',
          'Standard deviation of steps from the median of their batch size, relative to it; null with too few steps of any size',
        ),
      ),
      ci95: interval('ratio', 'cv'),
      steps: count('Steps; beside co-tenants, those while all were working'),
      meanBatch: v.nullable(quantity('sequences', 'Mean of the sequences in a step; null without a step')),
      stepP50Ms: v.nullable(quantity('ms', 'Median time of a step')),
      stepP99Ms: v.nullable(quantity('ms', '99th percentile of the same; null with too few steps')),
      p99OverP50: v.nullable(quantity('ratio', 'stepP99Ms ÷ stepP50Ms')),
      queueP50Us: v.nullable(quantity('us', 'Median time that sequences waited for their step to begin')),
      queueP99Us: v.nullable(quantity('us', '99th percentile of the same; null with too few sequences')),
      arrivalsPerSecond: quantity('sequences/s', 'Mean rate of arrivals at the measured tenant'),
      offered: count('Sequences that arrived'),
      served: count('Sequences that were served'),
      sizes: v.optional(
        rows(
          v.strictObject({
            batch: count('Sequences in a step'),
            steps: count('Steps of that size'),
            medianMs: quantity('ms', 'Their median time'),
          }),
          'A row per size with enough steps; without cv there is none',
        ),
      ),
    }),
    'The tenant alone, and beside co-tenants',
  ),
  besideReason: v.optional(text('Why there is no row beside co-tenants')),
});

export type DynamicBatchingDetails = v.InferOutput<typeof details>;
type DescribedRow = DynamicBatchingDetails['rows'][number];

export interface BatchingPlan extends Partial<Times> {
  sizes?: Sizes;
  mostBatch?: number;
}

interface Row extends Steps {
  coTenants: number;
  batching: DynamicBatching;
}

interface Beside {
  beside: Row | null;
  /** Why there is no result. */
  reason: string | null;
}

interface Played extends Beside {
  mostBatch: number;
  alone: DynamicBatching;
}

function requestOf(
  { options, simulatedDriver }: MeasureContext,
  { sizes, mostBatch }: BatchingPlan,
): DynamicBatchingRequest {
  return {
    ...(sizes ?? (simulatedDriver === null ? SIZES : SIMULATED)),
    startAtNs: 0,
    windowNs: LONGEST_MS * NS_PER_MS,
    graceNs: 0,
    mostSteps: 0,
    mostBatch: mostBatch ?? MOST_BATCH,
    arrivalsPerS: 0,
    load: LOAD,
    seed: options.seed,
  };
}

const serve = (tenant: WorkerTenant, request: DynamicBatchingRequest) =>
  askSession(tenant, { name: 'dynamicBatching', request, deadlineMs: DEADLINE_MS });

async function play(context: MeasureContext, populated: Populated, plan: BatchingPlan): Promise<Played> {
  const times = { ...TIMES[context.options.tier], ...plan };
  const request = requestOf(context, plan);
  // Co-tenants start before the first step, because one that starts later would disturb the steps alone.
  const reason = await grown(populated, 1 + times.coTenants);
  const [victim] = populated.scene.workers as [WorkerTenant, ...WorkerTenant[]];
  context.progress('alone', 0);
  const alone = await serve(victim, { ...request, mostSteps: times.steps });
  const played = { mostBatch: request.mostBatch, alone };
  if (reason !== null || alone.unsupported !== null || times.coTenants === 0)
    return { ...played, beside: null, reason };
  context.progress(`beside ${times.coTenants} co-tenants`, 0.5);
  try {
    return { ...played, ...(await besideOthers(populated, request, alone, times.togetherMs)) };
  } catch (error) {
    if (!isOutOfMemory(error)) throw error;
    return { ...played, beside: null, reason: `${1 + times.coTenants} tenants do not fit: ${error.message}` };
  }
}

/** Each tenant gets an equal part of the load that one tenant had alone. */
async function besideOthers(
  { scene }: Populated,
  alike: DynamicBatchingRequest,
  { capacityPerS }: DynamicBatching,
  togetherMs: number,
): Promise<Beside> {
  const { workers } = scene;
  const windowNs = togetherMs * NS_PER_MS;
  const arrivalsPerS = ((capacityPerS as number) * LOAD) / workers.length;
  // Their kernels are loaded before the common start.
  await Promise.all(workers.slice(1).map((tenant) => serve(tenant, { ...alike, arrivalsPerS, mostSteps: 1 })));
  const request = { ...alike, arrivalsPerS, windowNs, graceNs: windowNs * OVERRUN };
  const task = (place: number): Task => sessionTaskOf('dynamicBatching', { ...request, seed: alike.seed + place });
  const tasks = new Map(workers.map((tenant, place) => [tenant, task(place)]));
  const served = await scene.releaseAll<DynamicBatching>(tasks, togetherMs + DEADLINE_MS, LEADS);
  const full = served.find(({ unsupported: why }) => why !== null);
  if (full) return { beside: null, reason: full.unsupported };
  return together(served);
}

/** The first tenant's steps while all were working. */
function together(served: readonly DynamicBatching[]): Beside {
  const span = overlapAtWork(
    served.map(({ startedNs, endedNs, stepAtNs, stepNs }) => ({
      startNs: startedNs,
      endNs: endedNs,
      marksNs: stepAtNs.map((at, i) => at + (stepNs[i] as number)),
    })),
  );
  if (!span) return { beside: null, reason: 'the tenants made no progress at the same time' };
  const [batching] = served as [DynamicBatching, ...DynamicBatching[]];
  const { stepAtNs, stepNs, stepBatch } = batching;
  const within = stepAtNs.map((at, i) => at >= span.fromNs && at + (stepNs[i] as number) <= span.toNs);
  const inside = (values: readonly number[]) => values.filter((_, i) => within[i]);
  const row = { coTenants: served.length - 1, batching, stepNs: inside(stepNs), stepBatch: inside(stepBatch) };
  return { beside: row, reason: null };
}

function describeRow({ coTenants, batching, stepNs, stepBatch }: Row, variation: StepVariation | null): DescribedRow {
  const [steps, queue] = [summarise(stepNs), summarise(batching.queueNs)];
  const ms = (ns: number | null | undefined) => (ns == null ? null : ns / NS_PER_MS);
  const us = (ns: number | null | undefined) => (ns == null ? null : ns / NS_PER_US);
  return {
    coTenants,
    cv: variation?.cv ?? null,
    ci95: variation?.ci95 ?? null,
    steps: stepNs.length,
    meanBatch: meanBatch(stepBatch),
    stepP50Ms: ms(steps?.p50),
    stepP99Ms: ms(steps?.p99),
    p99OverP50: steps?.p99 == null ? null : steps.p99 / steps.p50,
    queueP50Us: us(queue?.p50),
    queueP99Us: us(queue?.p99),
    arrivalsPerSecond: batching.arrivalsPerS,
    offered: batching.offered,
    served: batching.served,
    sizes: variation?.sizes.map(({ batch, steps: count, medianNs }) => ({
      batch,
      steps: count,
      medianMs: medianNs / NS_PER_MS,
    })),
  };
}

function checksOf(alone: DynamicBatching, variation: StepVariation | null): Check[] {
  const used = variation?.sizes.reduce((sum, { steps }) => sum + steps, 0) ?? 0;
  const most = `${used} of ${alone.stepNs.length} steps are of sizes with at least ${ENOUGH_STEPS}`;
  const met = alone.served === alone.offered;
  return [
    { name: `at least ${ENOUGH_STEPS} steps of a batch size`, passed: 2 * used >= alone.stepNs.length, detail: most },
    {
      name: 'the offered load was met alone',
      passed: met,
      detail: `${alone.served} of ${alone.offered} sequences were served, at ${100 * LOAD} % of the capacity`,
    },
  ];
}

function judge({ mostBatch, alone, beside, reason }: Played): Measured<DynamicBatchingDetails> {
  if (alone.unsupported !== null) return unsupported(alone.unsupported);
  const variation = stepVariation(alone, ENOUGH_STEPS);
  const checks = checksOf(alone, variation);
  const rows = [describeRow({ coTenants: 0, batching: alone, ...stepsOf(alone) }, variation)];
  if (beside) rows.push(describeRow(beside, stepVariation(beside, FEWEST_BESIDE)));
  const { variant, capacityPerS } = alone;
  return {
    ...invalidBy(checks),
    value: variation?.cv ?? null,
    ...windowInterval(variation?.ci95),
    processes: 1,
    headline: null,
    details: {
      weights: describedWeights(alone),
      variant,
      mostBatch,
      load: LOAD,
      capacityPerSecond: capacityPerS,
      rows,
      ...(reason !== null && { besideReason: reason }),
    },
    checks,
  };
}

const stepsOf = ({ stepNs, stepBatch }: DynamicBatching): Steps => ({ stepNs, stepBatch });

/** With a given plan, for tests; without one tier and device decide. */
export const dynamicBatchingBy =
  (plan: BatchingPlan = {}): MetricDefinition<DynamicBatchingDetails>['measure'] =>
  (context) => {
    const topology = separable(context.system) ? 'separate' : 'shared';
    return unlessFull(
      'the weights',
      withTenants(context, { topology }, async (populated) => judge(await play(context, populated, plan))),
    );
  };

export const dynamicBatching: MetricDefinition<DynamicBatchingDetails> = {
  id: 'LLM-009',
  name: 'Dynamic Batching Latency Variance',
  category: 'llm',
  unit: 'ratio',
  direction: 'lower',
  question: 'How much do the steps of a serving loop vary beyond what their batch sizes explain?',
  estimator:
    'standard deviation of steps from the median of their batch size, relative to it, over all sizes with 200 steps',
  delta: { absolute: 0.01 },
  needs: ['512 MiB of GPU memory', 'several tenants for the row beside co-tenants'],
  functionName: 'measureDynamicBatching',
  where: 'fresh-processes',
  details,
  seconds: { quick: 4, standard: 6, thorough: 12 },
  measure: dynamicBatchingBy(),
};

/**
 * LLM-009, ratio: the coefficient of variation of a batching server's steps within a batch size, alone. Sequences
 * arrive at random (Poisson, from the seed) at 70 % of the measured capacity; a step takes all that are waiting, at
 * most 8. `details.rows[]` has this value, and p50 and p99 of steps and of the queueing delay, alone and beside
 * co-tenants that share the same load: one at tier `quick`, else three. `iterations`, `warmup` and `resolution` do not
 * apply.
 */
export const measureDynamicBatching = measureFunction(dynamicBatching);
