/** What a metric of faults reads from outside: how much a tenant may take, and the errors that the card reported. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { MeasureContext } from '../metric.js';
import { GIB } from '../units.js';

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

/** Null if NVML does not report them, or nobody looks from outside. Waits a while for one that is expected. */
export async function xidsSince(
  { truth }: MeasureContext,
  sinceNs: number,
  expected: boolean,
): Promise<number[] | null> {
  if (!truth) return null;
  for (const until = performance.now() + XID_MS; ; await sleep(POLL_MS)) {
    const seen = await truth.xids(sinceNs);
    if ('unsupported' in seen) return null;
    if (seen.events.length > 0 || !expected || performance.now() > until) return seen.events.map(({ xid }) => xid);
  }
}
