/** What a metric of faults reads from outside: how much a tenant may take, and the errors that the card reported. */
import { setTimeout as sleep } from 'node:timers/promises';
import { loadAddon } from '../../../native/load.js';
import type { MeasureContext } from '../../core/metric.js';
import { GIB } from '../../core/units.js';

/** How far beyond the limit to allocate, which should be refused. */
const BEYOND_LIMIT_BYTES = GIB / 2;
/** The report of an Xid arrives after the fault, independently. */
const XID_MS = 300;
const POLL_MS = 10;

/** How much a tenant may allocate until it asks for more than any card has, because others need the rest. */
export async function mostBytesOf({ system, truth }: MeasureContext, id: number): Promise<number> {
  const { memoryBytes } = system.limits({ id });
  const free = (await truth?.cardMemory())?.freeBytes ?? 2 * GIB;
  const wanted = memoryBytes === null ? Number.POSITIVE_INFINITY : memoryBytes + BEYOND_LIMIT_BYTES;
  return Math.max(1, Math.min(wanted, free - GIB));
}

/** Null if NVML does not report them, or nobody looks from outside. `expected`: waits a while for one. */
type XidsSeen = (expected: boolean) => Promise<number[] | null>;

/**
 * What the card reports from now on. NVML does not say when an error happened, so those that it already holds are read
 * now: they would count as later ones.
 */
export async function xidsFromNow({ truth }: Pick<MeasureContext, 'truth'>): Promise<XidsSeen> {
  await truth?.xids(0);
  const sinceNs = loadAddon().now();
  return async (expected) => {
    if (!truth) return null;
    for (const until = performance.now() + XID_MS; ; await sleep(POLL_MS)) {
      const seen = await truth.xids(sinceNs);
      if ('unsupported' in seen) return null;
      if (seen.events.length > 0 || !expected || performance.now() > until) return seen.events.map(({ xid }) => xid);
    }
  };
}
