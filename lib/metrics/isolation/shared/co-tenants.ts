/**
 * Tenants with quotas of their own that load the card at the same time: the work of each in bins of the card's time.
 */
import type { Load } from '../../../native/addon-types.js';
import { SOLE_TENANT, type Tenant } from '../../../systems/system.js';
import { sessionTaskOf } from '../../../workers/session-task.js';
import type { Task, WorkerTenant } from '../../../workers/worker-tenant.js';
import type { MeasureContext } from '../../core/metric.js';
import { withoutOwnTenant } from '../../core/other-limits.js';
import { FIRST_ID, inScene, type MetricScene } from '../../tenants/scene.js';
import { BACK_TO_BACK } from './load-shapes.js';
import { rateOf, referenceOf, runLoad, withoutLimits } from '../tenant-load.js';
import { NS_PER_MS } from '../../core/units.js';

const GRACE_MS = 120_000;
const MOST_LISTED = 4_096;
const GAP_NS = 50_000;
const WHOLE_MS = 300;
/** The windows of IS-007 and IS-008. */
export const BIN_MS = 100;

/** A tenant's quota in per cent of the card's compute; null: the system sets none. */
export type Quota = number | null;

export interface WholeCard {
  /** Rounds per block that make a kernel of about 1 ms on the whole card. */
  rounds: number;
  /** Work per nanosecond. */
  rate: number;
}

/** The work of an unlimited tenant alone; measured once per round. */
export const wholeCard = (context: MeasureContext): Promise<WholeCard> =>
  context.once.get('load of the whole card', () => {
    const reference = referenceOf(context.system, { smPercent: 50 });
    return withoutLimits(context, reference, async (worker) => {
      const load = await runLoad(worker, BACK_TO_BACK, { durationMs: WHOLE_MS, binMs: WHOLE_MS });
      return { rounds: load.rounds, rate: rateOf(load) };
    });
  });

export interface LoadTimes {
  durationMs: number;
  binMs: number;
}

/** The work of several tenants in the bins that lie entirely in the time of all of them. */
export interface CommonBins {
  /** Index of the first common bin in the first load. */
  first: number;
  /** Work by tenant, then by bin. */
  work: number[][];
}

/** Null if there is no such bin. `skipMs`: how much of the common time is left out at its beginning. */
export function commonBins(loads: readonly Load[], binMs: number, skipMs = 0): CommonBins | null {
  const binNs = binMs * NS_PER_MS;
  const from = Math.max(...loads.map(({ firstBin, startedNs }) => firstBin + Math.ceil(startedNs / binNs)));
  const to = Math.min(...loads.map(({ firstBin, endedNs }) => firstBin + Math.floor(endedNs / binNs)));
  const first = from + Math.round(skipMs / binMs);
  if (to <= first) return null;
  const work = loads.map(({ firstBin, bins }) =>
    Array.from({ length: to - first }, (_, i) => bins[first + i - firstBin] ?? 0),
  );
  return { first: first - (loads[0] as Load).firstBin, work };
}

export const total = (work: readonly number[]): number => work.reduce((sum, of) => sum + of, 0);

export class CoTenants {
  readonly scene: MetricScene;
  readonly workers: readonly WorkerTenant[];
  readonly #rounds: number;

  constructor(scene: MetricScene, workers: readonly WorkerTenant[], rounds: number) {
    this.scene = scene;
    this.workers = workers;
    this.#rounds = rounds;
  }

  /** Loads of the tenants at these places, all at once. Rejects with the first failure. */
  async load(places: readonly number[], times: LoadTimes): Promise<Load[]> {
    const tasks = new Map(places.map((place) => [this.workers[place] as WorkerTenant, this.task(times)]));
    return (await this.together(tasks, times.durationMs)) as Load[];
  }

  task({ durationMs, binMs }: LoadTimes): Task {
    return sessionTaskOf('load', {
      ...BACK_TO_BACK.request,
      rounds: this.#rounds,
      durationNs: durationMs * NS_PER_MS,
      binNs: binMs * NS_PER_MS,
      gapNs: GAP_NS,
      partition: 0,
      mostListed: MOST_LISTED,
    });
  }

  async together(tasks: ReadonlyMap<WorkerTenant, Task>, durationMs: number): Promise<unknown[]> {
    return this.scene.scene.releaseAll<unknown>(tasks, durationMs + GRACE_MS);
  }
}

/** Whether a tenant has a compute limit. */
export const limitsCompute = ({ system }: MeasureContext): boolean => system.capabilities.computeLimit !== 'none';

/**
 * Whether the system sets the limit of each tenant: a partition of the hardware has the size that it has, a pod the limits of
 * its template.
 */
export const setsQuotas = (context: MeasureContext): boolean => {
  const { capabilities } = context.system;
  const given = (smPercent: number) => context.system.limits({ ...SOLE_TENANT, limits: { smPercent } }).smPercent;
  return limitsCompute(context) && capabilities.computeLimit !== 'hardware' && given(25) !== given(50);
};

/** Like `withQuotas`, but also measures the load of the whole card for comparison. */
export async function amongTenants<T>(
  context: MeasureContext,
  quotas: readonly Quota[],
  use: (tenants: CoTenants) => Promise<T>,
): Promise<T> {
  const { rounds } = await wholeCard(context);
  return withQuotas(context, quotas, (scene, workers) => use(new CoTenants(scene, workers, rounds)));
}

/** A worker for each quota, all of which live while `use` runs. */
export async function withQuotas<T>(
  context: MeasureContext,
  quotas: readonly Quota[],
  use: (scene: MetricScene, workers: readonly WorkerTenant[]) => Promise<T>,
): Promise<T> {
  const tenants = quotas.map((smPercent, place): Tenant => ({
    id: FIRST_ID + place,
    ...(smPercent !== null && { limits: { smPercent } }),
  }));
  const play = () => inScene(context, async (scene) => use(scene, await scene.enterAll(tenants)));
  return limitsCompute(context) ? withoutOwnTenant(context, play) : play();
}

/** A line for the charts, relative to the whole card's work. */
export const shareLine = (
  name: string,
  limitPercent: Quota,
  binMs: number,
  work: readonly number[],
  { rate }: WholeCard,
) => ({ name, limitPercent, binMs, percent: work.map((of) => (100 * of) / (rate * binMs * NS_PER_MS)) });
