/**
 * Fresh workers under limits other than the round's, each proven to be under the system. The round's own tenant, whose
 * worker has ended, is removed meanwhile and prepared again afterwards.
 */
import { messageOf } from '../../errors/message-of.js';
import { BenchError } from '../../errors/bench-error.js';
import { loadAddon } from '../../native/load.js';
import { attestWorker } from '../../systems/proof/attest-worker.js';
import { type Attestation, type Limits, SOLE_TENANT, type System, type Tenant } from '../../systems/system.js';
import type { Ask } from '../../workers/session-task.js';
import type { WorkerTenant } from '../../workers/worker-tenant.js';
import type { MeasureContext } from './metric.js';
import { FIRST_ID, inScene, reapTenant, targetOf } from '../tenants/scene.js';

export interface LimitedWorker {
  tenant: Tenant;
  attestation: Attestation;
  pid: number;
  /** Makes it hold a session on the measured device from now on. */
  enter: (deadlineMs: number) => Promise<unknown>;
  /** Calls a function of the addon in its session: the one that it holds, or one for this call. */
  ask: Ask;
  /** Reads its own clock. */
  nowNs: () => number;
}

/** Uses the worker with the `kind`-th limits, for its `turn`. */
type Use = (worker: LimitedWorker, kind: number, turn: number) => Promise<void>;

/**
 * A worker for each of `limits`, each with that many turns. If the system allows tenants with different limits at the
 * same time, they alternate, so that other activity of the machine affects all of them equally; otherwise they run one
 * after the other.
 */
export async function underOtherLimits(
  context: MeasureContext,
  limits: readonly Partial<Limits>[],
  turns: number,
  use: Use,
): Promise<void> {
  const { system } = context;
  const kinds = limits.map((own, kind) => ({ kind, tenant: tenantWith(own, system.limitsCoexist ? kind : 0) }));
  const together = system.limitsCoexist ? [kinds] : kinds.map((kind) => [kind]);
  await withoutOwnTenant(context, async () => {
    for (const [i, group] of together.entries()) {
      if (i > 0) await system.betweenLimits();
      const tenants = group.map(({ tenant }) => tenant);
      await withWorkers(context, tenants, async (workers) => {
        for (let turn = 0; turn < turns; turn++) {
          const order = turn % 2 === 0 ? workers : workers.toReversed();
          for (const worker of order) await use(worker, group[workers.indexOf(worker)]?.kind as number, turn);
        }
      });
    }
  });
}

/** Removes the round's own tenant while `use` runs, so that others can have other limits. */
export async function withoutOwnTenant<T>(context: MeasureContext, use: () => Promise<T>): Promise<T> {
  await reapTenant(context, SOLE_TENANT);
  try {
    await context.system.betweenLimits();
    return await use();
  } finally {
    await restore(context);
  }
}

/**
 * Prepares the round's own tenant again, even if the system failed to be restored; neither failure costs the results.
 */
async function restore({ system, leftBehind }: MeasureContext): Promise<void> {
  for (const step of [() => system.betweenLimits(), () => system.prepareTenant(SOLE_TENANT)])
    await step().catch((error: unknown) => leftBehind(messageOf(error)));
}

/** Whether workers start differently under the two limits; the effect of a system's own commands is not considered. */
export const startsDiffer = (system: System, a: Partial<Limits>, b: Partial<Limits>): boolean => {
  const start = (limits: Partial<Limits>) => {
    const tenant = tenantWith(limits, 0);
    return { environment: system.environment(tenant), prefix: system.argvPrefix(tenant) };
  };
  return !equal(start(a), start(b));
};

const tenantWith = (limits: Partial<Limits>, place: number): Tenant => ({ id: FIRST_ID + place, limits });

const equal = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** All of them live while `use` runs. */
function withWorkers(
  context: MeasureContext,
  tenants: readonly Tenant[],
  use: (workers: readonly LimitedWorker[]) => Promise<void>,
): Promise<void> {
  return inScene(context, async (scene) => {
    const workers: LimitedWorker[] = [];
    for (const tenant of tenants) workers.push(await attested(context, tenant, await scene.startWorker(tenant)));
    await use(workers);
  });
}

/** Throws INVALID_RESULT if the worker is not under the system with its tenant's limits. */
export async function attested(context: MeasureContext, tenant: Tenant, started: WorkerTenant): Promise<LimitedWorker> {
  const { system, signal } = context;
  const target = targetOf(context);
  const look = { phase: 'before', tenant, target, signal } as const;
  const { attestation } = await attestWorker(started.worker, system, look);
  if (attestation.invalid !== undefined)
    throw new BenchError('INVALID_RESULT', `${attestation.invalid} (a tenant with other limits)`);
  const { worker } = started;
  const on = worker.targetIn(target);
  return {
    tenant,
    attestation,
    pid: worker.pid,
    enter: (deadlineMs) => started.request({ method: 'enter', params: on }, deadlineMs),
    ask: (name, request, deadlineMs) =>
      started.request({ method: name, params: { ...(request as object | undefined), on } }, deadlineMs),
    nowNs: () => worker.theirsNs(loadAddon().now()),
  };
}
