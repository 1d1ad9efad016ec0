/** How the processes of ERR-002 end: by an error of their own, or killed. */
import { loadAddon } from '../../native/load.js';
import { askSession } from '../../workers/session-task.js';
import type { WorkerTenant } from '../../workers/worker-tenant.js';
import { codeOf, FAULT_DEADLINE_MS, fillEndlessly, storm } from '../isolation/shared/faults.js';
import { MIB } from '../core/units.js';

/** Much larger than the difference between two fillings of the memory, so that a block that stays counted shows. */
const STORM_BYTES = 32 * MIB;

export interface Crash {
  name: string;
  /** What the process, or for a killed one its parent, is told. */
  expected: string;
  /** Whether the card reports an error (Xid) for it. */
  hasXid: boolean;
  /** Resolves once the process has ended; `what` is null if it was told nothing. */
  happen: (tenant: WorkerTenant, random: () => number) => Promise<{ what: string | null; atNs: number }>;
}

/** Takes the moment just before the signal is sent, by our clock. */
async function killed(tenant: WorkerTenant) {
  const atNs = loadAddon().now();
  tenant.signal('SIGKILL');
  return { what: (await tenant.exit).signal, atNs };
}

export const ILLEGAL_ADDRESS: Crash = {
  name: 'illegal address',
  expected: 'CUDA_ERROR_ILLEGAL_ADDRESS (700)',
  hasXid: true,
  async happen(tenant) {
    const request = { fault: 'outOfBounds' } as const;
    const answer = await askSession(tenant, { name: 'raiseFault', request, deadlineMs: FAULT_DEADLINE_MS });
    await tenant.stop();
    return { what: codeOf(answer), atNs: tenant.worker.oursNs(answer.toldAtNs) };
  },
};

export const KILLS: readonly Crash[] = [
  {
    name: 'SIGKILL inside an allocation',
    expected: 'SIGKILL',
    hasXid: false,
    async happen(tenant, random) {
      await storm(tenant, random, STORM_BYTES);
      return killed(tenant);
    },
  },
  {
    name: 'SIGKILL while a kernel runs',
    expected: 'SIGKILL',
    hasXid: false,
    async happen(tenant) {
      await fillEndlessly(tenant);
      return killed(tenant);
    },
  },
];
