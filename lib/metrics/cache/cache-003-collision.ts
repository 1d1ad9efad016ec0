/** CACHE-003: from which combined size on the working sets of four tenants slow each other down. */
import * as v from 'valibot';
import { count, described, quantity, rows, text } from '../core/details.js';
import type { Check, Tier } from '../../results/document.js';
import { largestOf } from '../../stats/largest.js';
import { figureOfWindows } from '../../stats/figure-of-windows.js';
import { meanOf, rehearse, stream, type Together, togetherIn } from '../bandwidth/streams.js';
import { setsQuotas, withQuotas } from '../isolation/shared/co-tenants.js';
import { lossPercent } from '../../stats/interference.js';
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
import type { MetricScene } from '../tenants/scene.js';
import { contextOf, processContext } from '../tenants/tenants.js';
import { scaleDetails } from './latencies.js';
import type { WorkerTenant } from '../../workers/worker-tenant.js';
import { formatBytes } from '../../results/text/format-bytes.js';
import { calibrate, type Calibration, calibrationDetails, indistinct, l2Bytes } from './calibration.js';

export const TENANTS = 4;
/** Sums of all sets, in eighths of the cache: in which nothing collides, and that of the value. */
const APART = 1;
const COLLIDING = 16;
const BIN_MS = 20;
/** Least size of a tenant's set, for each multiprocessor: two warps that read 16 bytes each. With less, a pass is all latency. */
const LEAST_BYTES = 1_024;
const ABOVE_DRAM = 1.3;

interface CollisionPlan {
  /** Sums of all sets in eighths of the cache, ascending, from `APART` on and with `COLLIDING`. */
  eighths: readonly number[];
  windowMs: number;
}

const PLANS: Record<Tier, CollisionPlan> = {
  quick: { eighths: [APART, COLLIDING], windowMs: 250 },
  standard: { eighths: [APART, 4, 8, COLLIDING, 32], windowMs: 800 },
  thorough: { eighths: [APART, 2, 4, 6, 8, 12, COLLIDING, 24, 32], windowMs: 3_000 },
};

interface Point {
  eighths: number;
  setBytes: number;
  together: Together | null;
}

interface Swept {
  calibration: Calibration;
  points: Point[];
  /** Multiprocessors of each tenant; 0: unknown. */
  multiprocessors: number;
  ceilingGbs: number;
  context: ReturnType<typeof contextOf>;
}

async function sweep(
  context: MeasureContext,
  { scene }: MetricScene,
  workers: readonly WorkerTenant[],
  { eighths, windowMs }: CollisionPlan,
): Promise<Swept> {
  const calibration = await calibrate(workers[0] as WorkerTenant, 'quick');
  const found: Swept = { calibration, points: [], multiprocessors: 0, ceilingGbs: 0, context: contextOf(scene) };
  if (indistinct(calibration) !== null) return found;
  const { multiprocessors, dramCeilingGbs } = await rehearse(workers);
  for (const sum of eighths) {
    const setBytes = Math.floor((sum * calibration.l2Bytes) / 8 / TENANTS);
    const all = await stream(
      scene,
      'read',
      workers.map((worker) => ({ worker, windowMs, bytes: setBytes, blocks: multiprocessors })),
    );
    found.points.push({ eighths: sum, setBytes, together: togetherIn(all, BIN_MS) });
    context.progress(`${sum / 8} of the cache`, found.points.length / eighths.length);
  }
  return { ...found, multiprocessors, ceilingGbs: dramCeilingGbs };
}

const least = (rates: readonly number[]): number => Math.min(...rates);

const losses = (apart: readonly number[], colliding: readonly number[]): number[] =>
  apart.map((rate, tenant) => lossPercent(rate, colliding[tenant] as number));

/** Loss of the tenant that loses most, between two sets of rates. */
export const worstLoss = (apart: readonly number[], colliding: readonly number[]): number =>
  Math.max(...losses(apart, colliding));

/** Interval of the largest loss, whichever tenant has it. */
export function worstLossCi95(
  apart: Pick<Together, 'binned'>,
  colliding: Pick<Together, 'binned'>,
): [number, number] | null {
  const each = apart.binned.map((own, tenant) => (alpha: number) => {
    const beside = colliding.binned[tenant] ?? [];
    return figureOfWindows(
      [own.length, beside.length],
      ([a, b]) => lossPercent(meanOf(own, a as number[]), meanOf(beside, b as number[])),
      { alpha, isPositive: false },
    );
  });
  return largestOf(each).ci95;
}

function rowOf({ eighths, setBytes, together }: Point, apart: Together | null) {
  const head = { setsOfL2: eighths / 8, setBytes };
  if (together === null) return { ...head, worstGbPerSecond: null, unsupported: 'the tenants had no time in common' };
  return {
    ...head,
    gbPerSecond: together.rates,
    worstGbPerSecond: least(together.rates),
    lossPercent: apart && worstLoss(apart.rates, together.rates),
    spanMs: together.spanMs,
  };
}

function cachedCheck({ rates }: Together, ceilingGbs: number): Check {
  const wanted = (ABOVE_DRAM * ceilingGbs) / TENANTS;
  return {
    name: `working sets that fit are read at ${ABOVE_DRAM} times a ${TENANTS}th of what the memory can move, or more`,
    passed: ceilingGbs === 0 ? 'not checked' : least(rates) >= wanted,
    detail:
      ceilingGbs === 0
        ? 'the driver does not tell the clock and width of the memory'
        : `${least(rates).toPrecision(4)} of ${wanted.toPrecision(4)} GB/s`,
  };
}

function tooSmall({ points: [first], multiprocessors }: Swept): string | null {
  const setBytes = first?.setBytes ?? 0;
  if (setBytes >= LEAST_BYTES * multiprocessors) return null;
  return `a set of ${formatBytes(setBytes)} is less than ${formatBytes(LEAST_BYTES)} for each of ${multiprocessors} multiprocessors`;
}

function judge(swept: Swept, quotaPercent: number | null): Measured<WorkingSetCollisionDetails> {
  const { calibration, points } = swept;
  const unfit = indistinct(calibration) ?? tooSmall(swept);
  if (unfit !== null) return unsupported(unfit, { calibration });
  const at = (eighths: number) => points.find((point) => point.eighths === eighths)?.together ?? null;
  const [apart, colliding] = [at(APART), at(COLLIDING)];
  const table = points.map((point) => rowOf(point, apart));
  const known = { tenants: TENANTS, quotaPercent, rows: table, binMs: BIN_MS, scale: calibration.scale };
  const all = { ...known, l2Bytes: calibration.l2Bytes, context: swept.context };
  if (!apart || !colliding) return withoutNumber('invalid', 'the tenants had no time in common', all);
  const checks = [cachedCheck(apart, swept.ceilingGbs)];
  return {
    ...invalidBy(checks),
    value: worstLoss(apart.rates, colliding.rates),
    ...windowInterval(worstLossCi95(apart, colliding)),
    ciScope: 'within-process',
    processes: TENANTS,
    headline: null,
    details: all,
    checks,
  };
}

async function measure(context: MeasureContext, plan: CollisionPlan): Promise<Measured<WorkingSetCollisionDetails>> {
  const quotaPercent = setsQuotas(context) ? 100 / TENANTS : null;
  try {
    const swept = await withQuotas(context, Array<number | null>(TENANTS).fill(quotaPercent), (scene, workers) =>
      sweep(context, scene, workers, plan),
    );
    return judge(swept, quotaPercent);
  } catch (error) {
    if (isOutOfMemory(error)) return unsupported(`${TENANTS} tenants do not fit: ${error.message}`);
    throw error;
  }
}

/** With a plan of its own, for tests; the tier decides where there is none. */
export const cacheCollisionBy =
  (plan?: CollisionPlan): MetricDefinition<WorkingSetCollisionDetails>['measure'] =>
  (context) =>
    measure(context, plan ?? PLANS[context.options.tier]);

const details = v.strictObject({
  tenants: count('Tenants'),
  quotaPercent: v.nullable(quantity('%', 'Compute quota of each; null if the system sets none')),
  rows: rows(
    v.strictObject({
      setsOfL2: described(v.number(), 'All working sets together, divided by the size of the L2 cache'),
      setBytes: count('Working set of a tenant (bytes)'),
      gbPerSecond: v.optional(rows(v.pipe(v.number(), v.finite()), 'The rate of each tenant (GB/s)')),
      worstGbPerSecond: v.nullable(
        quantity('GB/s', 'The rate of the worst of them; null if they had no time in common'),
      ),
      lossPercent: v.optional(
        v.nullable(
          quantity('%', 'What the worst tenant loses, from an eighth of the cache on; null if that was not measured'),
        ),
      ),
      spanMs: v.optional(quantity('ms', 'The time in which all tenants read')),
      unsupported: v.optional(text('Why the row has no numbers')),
    }),
    'A row per size of the working sets',
  ),
  binMs: quantity('ms', 'Length of the windows from which the interval is drawn'),
  scale: scaleDetails,
  l2Bytes,
  context: v.optional(processContext),
  calibration: calibrationDetails,
});

export type WorkingSetCollisionDetails = v.InferOutput<typeof details>;

export const cacheCollision: MetricDefinition<WorkingSetCollisionDetails> = {
  id: 'CACHE-003',
  name: 'Working Set Collision Impact',
  category: 'cache',
  unit: '%',
  direction: 'lower',
  question: 'At what combined footprint does co-location start to hurt?',
  estimator:
    'loss of the rate at which one of four tenants reads its working set again, the worst, from sets of an eighth of the L2 cache together to twice the cache',
  delta: { absolute: 2 },
  needs: ['four tenants'],
  functionName: 'measureWorkingSetCollision',
  where: 'fresh-processes',
  details,
  seconds: { quick: 2, standard: 12, thorough: 40 },
  lineCharts: [
    {
      title: 'Bandwidth of the worst of four tenants by their working sets',
      axes: { x: 'all working sets ÷ L2 cache', y: 'GB/s' },
      rows: 'rows',
      point: { x: 'setsOfL2', y: 'worstGbPerSecond' },
    },
  ],
  measure: cacheCollisionBy(),
};

/**
 * CACHE-003, %, signed: four tenants read a working set each, over and over. How much of its rate the worst of them loses
 * if the sets together are twice the L2 cache in place of an eighth. The number of tenants stays the same, so that turns
 * and shares of the multiprocessors do. From tier `standard` on `details.rows[]` has the sizes between and four times the
 * cache. `iterations`, `warmup` and `resolution` do not apply.
 */
export const measureWorkingSetCollision = measureFunction(cacheCollision);
