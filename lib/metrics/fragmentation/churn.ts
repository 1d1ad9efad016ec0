/** A tenant that allocates and frees memory at random, like a long-lived process. */
import * as v from 'valibot';
import type { MemoryChurn, MemoryChurnRequest, MemoryPath } from '../../native/addon-types.js';
import { askSession } from '../../workers/session-task.js';
import type { WorkerTenant } from '../../workers/worker-tenant.js';
import { roomFor } from '../isolation/shared/leftovers.js';
import { count } from '../core/details.js';
import type { MeasureContext, MeasuredNothing } from '../core/metric.js';
import { unsupported } from '../core/metric.js';
import { heldOutside, type MemorySpan } from '../core/returned-memory.js';
import { GIB, MIB } from '../core/units.js';
import { formatBytes } from '../../results/text/format-bytes.js';

const KIB = 1024;
const LEAST_LIMIT = GIB;
const SMALLEST_BYTES = 64 * KIB;
const LARGEST_BYTES = 64 * MIB;
/** Fraction of the usable memory that a churn fills. */
const FILLED = 0.9;
/** Fraction of the filled memory that is then freed. */
const FREED = 0.5;
/** Published, so that a repeated measurement has the same sizes in the same order. */
export const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] as const;
/** Time limit of a churn; after it the memory is freed, and the result says so. */
const CHURN_DEADLINE_MS = 60_000;
const DEADLINE_MS = 2 * CHURN_DEADLINE_MS;
const NS_PER_MS = 1e6;

/** Details of where a churn takes place. */
export const churnRoom = v.strictObject({
  limitBytes: count("The tenant's memory limit, or the card's memory (bytes)"),
  roomBytes: count('Memory that the tenant may use; a part of the card stays free (bytes)'),
});

export type ChurnRoom = v.InferOutput<typeof churnRoom>;
export type NoRoom = MeasuredNothing<Partial<ChurnRoom>>;

export class ChurnTenant {
  readonly worker: WorkerTenant;
  readonly #context: MeasureContext;

  constructor(context: MeasureContext, worker: WorkerTenant) {
    this.#context = context;
    this.worker = worker;
  }

  /** Returns `unsupported` if there is too little memory. */
  async room(): Promise<ChurnRoom | NoRoom> {
    const { totalBytes } = await this.visible();
    const known = [this.#context.system.limits().memoryBytes, totalBytes].filter((bytes) => bytes !== null);
    if (known.length === 0) return unsupported('neither the system nor cuMemGetInfo reports how much memory there is');
    const limitBytes = Math.min(...known);
    if (limitBytes < LEAST_LIMIT)
      return unsupported(`${formatBytes(limitBytes)} is less than ${formatBytes(LEAST_LIMIT)}`, { limitBytes });
    return { limitBytes, roomBytes: Math.floor(await roomFor(this.#context, this.worker)) };
  }

  visible() {
    return askSession(this.worker, { name: 'visibleMemory', request: undefined, deadlineMs: DEADLINE_MS });
  }

  /** Memory that the tenant holds by the coordinator's NVML; null if no process checks from outside. */
  held(): Promise<number | null> {
    return heldOutside(this.#context, this.worker);
  }

  churn(path: MemoryPath, wanted: Pick<MemoryChurnRequest, 'fillBytes' | 'seed'> & Partial<MemoryChurnRequest>) {
    const request: MemoryChurnRequest = {
      path,
      smallestBytes: SMALLEST_BYTES,
      largestBytes: LARGEST_BYTES,
      turnover: 0,
      keepBytes: 0,
      compact: false,
      mostNs: CHURN_DEADLINE_MS * NS_PER_MS,
      ...wanted,
    };
    return askSession(this.worker, { name: 'churnMemory', request, deadlineMs: DEADLINE_MS });
  }

  release() {
    return askSession(this.worker, { name: 'releaseMemory', request: undefined, deadlineMs: DEADLINE_MS });
  }

  /** Frees all memory after `use`, even if it fails, and returns the memory held before and after. */
  async returning<T>(use: () => Promise<T>): Promise<{ used: T; span: MemorySpan }> {
    const usedBefore = await this.held();
    let used: T;
    try {
      used = await use();
    } finally {
      await this.release();
    }
    return { used, span: { usedBefore, usedAfter: await this.held() } };
  }
}

/** How much a churn fills at first, and keeps at the end. */
export const churnOf = ({ roomBytes }: ChurnRoom) => {
  const fillBytes = Math.floor(FILLED * roomBytes);
  return { fillBytes, keepBytes: Math.floor((1 - FREED) * fillBytes) };
};

/** Why a churn did not produce the requested state; null if it did. */
export function spoilt({ noMemory, refusals, timedOut, heldBytes }: MemoryChurn): string | null {
  if (noMemory !== null) return noMemory;
  if (timedOut) return `the allocations and frees had not finished after ${CHURN_DEADLINE_MS / 1_000} s`;
  const refused = refusals[0];
  if (!refused) return null;
  return `${refused.call} of ${formatBytes(refused.bytes)} returned ${refused.name}, with ${formatBytes(heldBytes)} held at the end`;
}
