/** Tenants that all do the same work at the same time, and the window in which all of them worked. */
import * as v from 'valibot';
import { described, text } from '../core/details.js';
import type { Limits, System } from '../../systems/system.js';
import { type Activity, overlapAtWork, type Span } from '../../workers/activity.js';
import type { Scene } from '../../workers/scene.js';
import type { SentAnswerOf } from '../../workers/session-task.js';
import type { TenantContext } from '../../workers/worker-tenant.js';
import type { MeasureContext } from '../core/metric.js';
import { isOutOfMemory } from '../core/row-state.js';
import { FIRST_ID, inScene } from './scene.js';

/** `shared`: the processes of one tenant, with one quota and one layer state; `separate`: one tenant each. */
export type Topology = 'shared' | 'separate';

export interface TenantPlan {
  topology: Topology;
  /** Override the system's own limits. */
  limits?: Partial<Limits>;
}

export interface Populated {
  scene: Scene;
  /** Starts more until there are `count`; each holds a session when this resolves. */
  growTo: (count: number) => Promise<void>;
}

/** See `inScene`. */
export function withTenants<T>(
  context: MeasureContext,
  { topology, limits }: TenantPlan,
  use: (populated: Populated) => Promise<T>,
): Promise<T> {
  return inScene(context, (metricScene) => {
    const { scene } = metricScene;
    const growTo = async (count: number) => {
      const there = scene.workers.length;
      const idOf = (place: number) => (topology === 'shared' ? FIRST_ID : FIRST_ID + place);
      const missing = Array.from({ length: count - there }, (_, i) => ({
        id: idOf(there + i),
        ...(limits && { limits }),
      }));
      await metricScene.enterAll(missing);
    };
    return use({ scene, growTo });
  });
}

/** Schema of `contextOf`. */
export const processContext = described(
  v.strictObject({
    function: text('The driver function that created it'),
    owner: v.nullable(text('The object that owns the function; null if none was found')),
  }),
  'The context of the first process',
);

/** The first process's entry for `details.context`; the proofs compare the owners in all other processes with it. */
export const contextOf = ({ contexts }: Pick<Scene, 'contexts'>): TenantContext | undefined => contexts[0];

/** Why there is no room for that many; null if they were started. */
export async function grown({ growTo }: Populated, count: number): Promise<string | null> {
  try {
    await growTo(count);
    return null;
  } catch (error) {
    if (isOutOfMemory(error)) return error.message;
    throw error;
  }
}

/** How many GPUs so many tenants have: one, unless the system gives them GPUs of their own, as MIG does. */
export const gpusOf = (system: System, tenants: number): number =>
  new Set(Array.from({ length: tenants }, (_, i) => system.ownGpu?.({ id: FIRST_ID + i })?.uuid)).size;

/** Whether tenants can have separate states: the caller's environment has one for all. */
export const separable = ({ isCallers }: System): boolean => isCallers !== true;

export type SentWindow = SentAnswerOf<'window'>;

export interface Common extends Span {
  /** For each tenant, the durations of its operations that began and ended inside. */
  samples: Float64Array[];
}

const activityOf = ({ startedNs, endedNs, atNs, tookNs }: SentWindow): Activity => ({
  startNs: startedNs,
  endNs: endedNs,
  marksNs: atNs.map((at, i) => at + (tookNs[i] as number)),
});

/** The operations in the time in which all were working; null if there is none, or one made no progress in it. */
export function commonWindow(windows: readonly SentWindow[]): Common | null {
  const span = overlapAtWork(windows.map(activityOf));
  if (!span) return null;
  const { fromNs, toNs } = span;
  const samples = windows.map(({ atNs, tookNs }) =>
    Float64Array.from(tookNs).filter((took, i) => {
      const at = atNs[i] as number;
      return at >= fromNs && at + took <= toNs;
    }),
  );
  return samples.every(({ length }) => length > 0) ? { ...span, samples } : null;
}
