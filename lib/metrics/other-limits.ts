/**
 * Fresh workers under other limits than those of the round, one after the other, each shown to be under the system. The
 * round's own tenant, whose worker has ended, leaves meanwhile and finds a state of its own again.
 */
import type { DeviceTarget } from '../native/addon-types.js';
import { BenchError } from '../native/errors.js';
import { attestWorker } from '../systems/attest-worker.js';
import { type Attestation, type Limits, SOLE_TENANT, type System, type Tenant } from '../systems/system.js';
import { Worker } from '../workers/worker.js';
import type { MeasureContext } from './metric.js';
import { FIRST_ID } from './tenants.js';

export interface LimitedWorker {
  attestation: Attestation;
  /** Asks it, on the device that is measured. */
  ask: (method: string, params: object, deadlineMs: number) => Promise<unknown>;
}

/** Calls `use` once for each of `limits`, in this order, before the next worker starts. */
export async function underOtherLimits(
  context: MeasureContext,
  limits: readonly Partial<Limits>[],
  use: (worker: LimitedWorker, index: number) => Promise<void>,
): Promise<void> {
  const { system } = context;
  await system.reap(SOLE_TENANT);
  try {
    for (const [index, own] of limits.entries()) {
      if (index === 0 || !equal(own, limits[index - 1])) await system.betweenLimits();
      await inWorkerOf(context, tenantWith(own), (worker) => use(worker, index));
    }
  } finally {
    await system.betweenLimits();
    await system.prepareTenant(SOLE_TENANT);
  }
}

/** Whether workers start differently under the two: what a system's own commands do for them is not seen. */
export const startsDiffer = (system: System, a: Partial<Limits>, b: Partial<Limits>): boolean => {
  const start = (limits: Partial<Limits>) => {
    const tenant = tenantWith(limits);
    return { environment: system.environment(tenant), prefix: system.argvPrefix(tenant) };
  };
  return !equal(start(a), start(b));
};

const tenantWith = (limits: Partial<Limits>): Tenant => ({ id: FIRST_ID, limits });

const equal = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

async function inWorkerOf(
  context: MeasureContext,
  tenant: Tenant,
  use: (worker: LimitedWorker) => Promise<void>,
): Promise<void> {
  const { system, signal, simulatedDriver, options } = context;
  const target: DeviceTarget = { simulatedDriver, device: options.device, path: options.path };
  await system.prepareTenant(tenant);
  try {
    const worker = await Worker.start({
      environment: system.environment(tenant),
      argvPrefix: system.argvPrefix(tenant),
      signal,
    });
    try {
      const { attestation } = await attestWorker(worker, system, { phase: 'before', tenant, target, signal });
      if (attestation.invalid !== undefined)
        throw new BenchError('INVALID_RESULT', `${attestation.invalid} (a tenant with other limits)`);
      const ask: LimitedWorker['ask'] = (method, params, deadlineMs) =>
        worker.request(method, { ...target, ...params }, { deadlineMs, signal });
      await use({ attestation, ask });
    } finally {
      await worker.stop();
    }
  } finally {
    await system.reap(tenant);
  }
}
