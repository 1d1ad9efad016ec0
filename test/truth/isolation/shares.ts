/** Systems whose tenants have parts of the simulated card's multiprocessors, and their recorded kernels. */
import { environmentSystem } from '../../../lib/systems/process/environment.js';
import type { System, Tenant } from '../../../lib/systems/system.js';
import { deviceTime } from '../../native/limited.js';
import { environment } from '../../native/measured.js';
import { type RecordedCall, recordedByProcess } from '../../native/record.js';

/** Tenants start in order, and so do their records, if the creation of contexts is recorded. */
export const staggered = (system: System): System => ({ ...system, staggerStarts: true });

/** MPS clients with thread percentages of 128 multiprocessors. `percentOf`: for each limited tenant. */
export function percentages(percentOf: (tenant: Tenant) => number, sim = '', record?: string): System {
  const base = environmentSystem(
    environment(null, `mps=1,sms=128,recorded=cuLaunchKernel+cuDevicePrimaryCtxRetain${sim}`, record),
  );
  return {
    ...staggered(base),
    capabilities: { ...base.capabilities, computeLimit: 'smCap' },
    limitsCoexist: true,
    limits: (tenant) => ({ ...base.limits(tenant), smPercent: tenant?.limits?.smPercent ?? null }),
    environment: (tenant) => {
      const percent = (tenant?.limits?.smPercent ?? 100) < 100 ? percentOf(tenant as Tenant) : 100;
      return { ...base.environment(tenant), CUDA_MPS_ACTIVE_THREAD_PERCENTAGE: `${percent}` };
    },
  };
}

export type Kernel = Pick<RecordedCall, 'begins' | 'ends'>;

export const lasted = ({ begins, ends }: Kernel): number => ends - begins;

/** Each load begins with short kernels, which calibrate their length and relate the clocks. */
const SHORTEST_NS = 500_000;

/** The loads of each process that ran any, in the order of their first calls. */
export function loadsOf(folder: string): RecordedCall[][][] {
  const processes = recordedByProcess(folder).map(({ calls }) => calls.filter(({ kernel }) => kernel === 'gvb_load'));
  return processes.filter((kernels) => kernels.length > 0).map(split);
}

function split(kernels: readonly RecordedCall[]): RecordedCall[][] {
  const loads: RecordedCall[][] = [];
  for (const kernel of kernels) {
    if (lasted(kernel) > SHORTEST_NS) loads.at(-1)?.push(kernel);
    else if (loads.at(-1)?.length !== 0) loads.push([]);
  }
  return loads;
}

/** Kernels by the device's clock, at whose whole multiples bins begin. */
export const byDevice = (kernels: readonly Kernel[]): Kernel[] =>
  kernels.map(({ begins, ends }) => ({ begins: deviceTime(begins), ends: deviceTime(ends) }));

/** The whole bins in which all of the loads ran: the time during which the machine stops one of them is left out. */
export function commonBins(loads: readonly (readonly Kernel[])[], binNs: number): [from: number, to: number] {
  const first = Math.max(...loads.map((load) => Math.ceil((load[0]?.begins ?? Number.NaN) / binNs)));
  const end = Math.min(...loads.map((load) => Math.floor((load.at(-1)?.ends ?? Number.NaN) / binNs)));
  return [first * binNs, end * binNs];
}

/** How many kernels' work was done in a time range. */
export const kernelsIn = (kernels: readonly Kernel[], from: number, to: number): number =>
  kernels.reduce((sum, kernel) => sum + busyIn([kernel], from, to) / lasted(kernel), 0);

/** The part of a time range in which one of the kernels ran. */
export const busyIn = (kernels: readonly Kernel[], from: number, to: number): number =>
  kernels.reduce((sum, { begins, ends }) => sum + Math.max(0, Math.min(ends, to) - Math.max(begins, from)), 0);
