/** Tenants of the measured system, as a metric asks for them, and the window they have in common. */
import type { TenantWindow } from '../native/addon-types.js';
import { reapFailure } from '../systems/reaped.js';
import type { Limits, System, Tenant } from '../systems/system.js';
import { type TenantContext, type TenantProcess, Tenants } from '../workers/tenants.js';
import type { MeasureContext } from './metric.js';
import { isOutOfMemory } from './row-state.js';

/** `shared`: the processes of one tenant, with one quota and one layer state; `separate`: a tenant each. */
export type Topology = 'shared' | 'separate';

/** Tenants of a metric have ids of their own: 0 is the one whose round it is. */
export const FIRST_ID = 1;

export interface TenantPlan {
  topology: Topology;
  /** Instead of the system's own limits. */
  limits?: Partial<Limits>;
}

export interface Populated {
  tenants: Tenants;
  /** Starts more until there are `count`; they hold a session each when this resolves. */
  growTo: (count: number) => Promise<void>;
}

/** Whatever happens inside, every worker has ended and every state is removed when this settles. */
export async function withTenants<T>(
  context: MeasureContext,
  plan: TenantPlan,
  use: (populated: Populated) => Promise<T>,
): Promise<T> {
  const { system, signal, simulatedDriver, options } = context;
  const tenants = new Tenants({ simulatedDriver, device: options.device, path: options.path }, signal);
  const claimed: Tenant[] = [];
  const idOf = (place: number) => (plan.topology === 'shared' ? FIRST_ID : FIRST_ID + place);
  const claim = async (id: number): Promise<Tenant> => {
    const known = claimed.find((tenant) => tenant.id === id);
    if (known) return known;
    const tenant: Tenant = { id, ...(plan.limits && { limits: plan.limits }) };
    claimed.push(tenant);
    await system.prepareTenant(tenant);
    return tenant;
  };
  const growTo = async (count: number) => {
    const missing = Array.from({ length: count - tenants.size }, (_, i) => tenants.size + i);
    const add = async (place: number) => {
      const tenant = await claim(idOf(place));
      await tenants.add({ environment: system.environment(tenant), argvPrefix: system.argvPrefix(tenant) });
    };
    if (system.staggerStarts) for (const place of missing) await add(place);
    else await allOrFirstError(missing.map(add));
  };
  try {
    const used = await use({ tenants, growTo });
    const proofs = tenants.workers.map(async (worker, place) => context.prove(worker, await claim(idOf(place))));
    await allOrFirstError(proofs);
    return used;
  } finally {
    await tenants.stop();
    for (const tenant of claimed) await reapTenant(context, tenant);
  }
}

/** Never rejects: state that stays is noted in the result. */
export async function reapTenant({ system, leftBehind }: MeasureContext, tenant: Tenant): Promise<void> {
  const failure = await reapFailure(system, tenant);
  if (failure !== null) leftBehind(failure);
}

/** One tenant whose processes a metric starts by itself; its state is removed when this settles. */
export async function inOneTenant<T>(context: MeasureContext, use: (process: TenantProcess) => Promise<T>): Promise<T> {
  const { system } = context;
  const tenant: Tenant = { id: FIRST_ID };
  try {
    await system.prepareTenant(tenant);
    return await use({ environment: system.environment(tenant), argvPrefix: system.argvPrefix(tenant) });
  } finally {
    await reapTenant(context, tenant);
  }
}

/** Settles when all have: nobody may start behind the back of who ends them. */
export async function allOrFirstError(tasks: readonly Promise<unknown>[]): Promise<void> {
  const failed = (await Promise.allSettled(tasks)).find(({ status }) => status === 'rejected');
  if (failed) throw (failed as PromiseRejectedResult).reason;
}

/** For `details.context`: of the first, whose owners the proof of every process compares the others with. */
export const contextOf = ({ contexts }: Pick<Tenants, 'contexts'>): TenantContext | undefined => contexts[0];

/** Why there is no room for that many; null where they are there. */
export async function grown({ growTo }: Populated, count: number): Promise<string | null> {
  try {
    await growTo(count);
    return null;
  } catch (error) {
    if (isOutOfMemory(error)) return error.message;
    throw error;
  }
}

/** Whether tenants can have separate states: an environment taken as it is has one for all. */
export const separable = ({ kind }: System): boolean => kind !== 'environment';

/** As it crosses from a worker. */
export interface WireWindow extends Omit<TenantWindow, 'atNs' | 'tookNs'> {
  atNs: number[];
  tookNs: number[];
}

export interface Common {
  fromNs: number;
  toNs: number;
  /** Per tenant: how long its operations took that began and ended inside. */
  samples: Float64Array[];
}

/** What lies in the time in which all were at work; null where there is none, or one made no progress in it. */
export function commonWindow(windows: readonly WireWindow[]): Common | null {
  const fromNs = Math.max(...windows.map(({ startedNs }) => startedNs));
  const toNs = Math.min(...windows.map(({ endedNs }) => endedNs));
  if (!(toNs > fromNs)) return null;
  const samples = windows.map(({ atNs, tookNs }) =>
    Float64Array.from(tookNs).filter((took, i) => {
      const at = atNs[i] as number;
      return at >= fromNs && at + took <= toNs;
    }),
  );
  return samples.every(({ length }) => length > 0) ? { fromNs, toNs, samples } : null;
}
