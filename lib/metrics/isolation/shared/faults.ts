/** The faults of IS-010: what a sacrificial tenant does, and how its effect is confirmed. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultKind } from '../../../native/addon-types.js';
import { askSession } from '../../../workers/session-task.js';
import type { WorkerTenant } from '../../../workers/worker-tenant.js';
import { STALL_MS, type WatchedVictim } from '../watched-victim.js';

/** What a fault works with. */
interface Stage {
  tenant: WorkerTenant;
  victim: WatchedVictim;
  /** Uniform in [0, 1). */
  random: () => number;
  /** How much a tenant may allocate before it asks for more than any card has, because others need the rest. */
  mostBytes: number;
  /** Takes what `fillEndlessly` resolves with. */
  noteCardFull: (full: boolean | null) => void;
}

export interface Fault {
  name: string;
  expectedCode: string;
  /** Whether the card reports an error (Xid) for it. */
  hasXid: boolean;
  /** Returns what happened, in the form of `expectedCode`; null if the fault did not happen. */
  raise: (stage: Stage) => Promise<string | null>;
}

/** The fault takes milliseconds, but a layer may hold a lock meanwhile. */
export const FAULT_DEADLINE_MS = 30_000;
const STORM_BYTES = 2 ** 21;
/** Longer than any test: the tenant is killed before it ends. */
const STORM_MS = 60_000;
const STORM_DEADLINE_MS = 90_000;
const SHORT_STORM_MS = 10;
/** How long the endless kernel runs beside the victim before its process is killed. */
const ENDLESS_MS = 100;
/**
 * A stop may fall between two calls: if a call holds the lock for half of the time, all 20 miss it once in 10^6 runs.
 */
const STOPS = 20;

export const codeOf = ({ code, name }: { code: number; name: string }): string | null =>
  code === 0 ? null : `${name} (${code})`;

/** What the addon says in place of a name if the driver has no cuGetErrorName. */
const UNNAMED = 'unknown code';

/** Compares texts of `codeOf`, or signals; if the driver names no codes, their numbers decide. */
export const isTold = (told: string | null, expected: string): boolean =>
  told === expected || (told?.startsWith(`${UNNAMED} `) === true && expected.endsWith(told.slice(UNNAMED.length)));

const kernelFault = (name: string, fault: FaultKind, expectedCode: string): Fault => ({
  name,
  expectedCode,
  hasXid: true,
  raise: async ({ tenant }) =>
    codeOf(await askSession(tenant, { name: 'raiseFault', request: { fault }, deadlineMs: FAULT_DEADLINE_MS })),
});

async function killed(tenant: WorkerTenant): Promise<string | null> {
  tenant.signal('SIGKILL');
  return (await tenant.exit).signal;
}

/**
 * The tenant allocates and frees blocks of this size until it is killed, at a random moment. Rejects if no allocation
 * succeeded.
 */
export async function storm(tenant: WorkerTenant, random: () => number, bytes = STORM_BYTES): Promise<void> {
  await startStorm(tenant, bytes);
  await sleep(20 * random());
}

async function startStorm(tenant: WorkerTenant, bytes = STORM_BYTES): Promise<void> {
  const ask = (forMs: number, deadlineMs: number) =>
    askSession(tenant, { name: 'allocationStorm', request: { bytes, forMs }, deadlineMs });
  await ask(SHORT_STORM_MS, FAULT_DEADLINE_MS);
  // It ends with its process.
  ask(STORM_MS, STORM_DEADLINE_MS).catch(() => undefined);
  await sleep(SHORT_STORM_MS);
}

/**
 * A kernel that fills the card runs until the tenant is killed. Resolves with true if no other kernel of its process could
 * begin beside it, null if that was not seen; rejects if one could.
 */
export async function fillEndlessly(tenant: WorkerTenant): Promise<boolean | null> {
  const { cardFull } = await askSession(tenant, {
    name: 'startEndless',
    request: undefined,
    deadlineMs: FAULT_DEADLINE_MS,
  });
  await sleep(ENDLESS_MS);
  return cardFull;
}

/** Allocates all that it is given, and keeps it. Resolves with what was granted, and the code of the refusal. */
export const hoard = (tenant: WorkerTenant, mostBytes: number) =>
  askSession(tenant, { name: 'hoard', request: { mostBytes }, deadlineMs: FAULT_DEADLINE_MS });

/** On a busy host a stop takes effect late, and a stall that ends with the stop must still be longer than `STALL_MS`. */
const LATE_STOP_MS = 1_000;

async function stopAgainAndAgain({ tenant, victim, random }: Stage): Promise<string> {
  for (let i = 0; i < STOPS; i++) {
    await sleep(1 + 10 * random());
    tenant.signal('SIGSTOP');
    const goesOn = await victim.goesOn(STALL_MS + LATE_STOP_MS);
    tenant.signal('SIGCONT');
    if (!goesOn) break;
  }
  return 'SIGSTOP';
}

export const FAULTS: readonly Fault[] = [
  kernelFault('out-of-bounds store', 'outOfBounds', 'CUDA_ERROR_ILLEGAL_ADDRESS (700)'),
  kernelFault('misaligned access', 'misaligned', 'CUDA_ERROR_MISALIGNED_ADDRESS (716)'),
  kernelFault('trap', 'trap', 'CUDA_ERROR_LAUNCH_FAILED (719)'),
  kernelFault('device assert', 'assert', 'CUDA_ERROR_ASSERT (710)'),
  {
    name: 'endless kernel, SIGKILL',
    expectedCode: 'SIGKILL',
    hasXid: false,
    raise: async ({ tenant, noteCardFull }) => {
      noteCardFull(await fillEndlessly(tenant));
      return killed(tenant);
    },
  },
  {
    name: 'SIGKILL inside an allocation',
    expectedCode: 'SIGKILL',
    hasXid: false,
    raise: async ({ tenant, random }) => {
      await storm(tenant, random);
      return killed(tenant);
    },
  },
  {
    name: 'SIGSTOP inside an allocation',
    expectedCode: 'SIGSTOP',
    hasXid: false,
    raise: async (stage) => {
      await startStorm(stage.tenant);
      const stopped = await stopAgainAndAgain(stage);
      // A tenant that ended by itself was not stopped.
      return (await killed(stage.tenant)) === 'SIGKILL' ? stopped : null;
    },
  },
  {
    name: 'leak until the quota',
    expectedCode: 'CUDA_ERROR_OUT_OF_MEMORY (2)',
    hasXid: false,
    raise: async ({ tenant, mostBytes }) => codeOf(await hoard(tenant, mostBytes)),
  },
];
