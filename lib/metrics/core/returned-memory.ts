/** Whether a process released the device memory that it took. */
import { setTimeout } from 'node:timers/promises';
import type { Check } from '../../results/document.js';
import type { WorkerTenant } from '../../workers/worker-tenant.js';
import type { MeasureContext } from './metric.js';
import { formatBytes } from '../../results/text/format-bytes.js';

const FLOOR_BYTES = 4 * 1024 ** 2;
const SHARE = 0.01;
/** What a process held before must not hide what it keeps now. */
const MOST_BYTES = 16 * 1024 ** 2;

/** Memory by the coordinator's NVML: of the process or, if NVML does not list it, of the card. */
export async function heldOutside(
  { truth }: Pick<MeasureContext, 'truth'>,
  { worker }: Pick<WorkerTenant, 'worker'>,
): Promise<number | null> {
  if (!truth) return null;
  return (await truth.processMemory(worker.pid)) ?? (await truth.cardMemory())?.usedBytes ?? null;
}

/** Memory of one process by NVML; null if NVML does not report it. */
export interface MemorySpan {
  usedBefore: number | null;
  usedAfter: number | null;
}

/** Each process must return the memory that it took, within 1 % of what it had before, at least 4 and at most 16 MiB. */
export function returnedCheck(spans: readonly MemorySpan[]): Check {
  const name = 'memory returned';
  const drifts = spans.flatMap(({ usedBefore, usedAfter }) =>
    usedBefore === null || usedAfter === null ? [] : [{ usedBefore, drift: Math.abs(usedAfter - usedBefore) }],
  );
  if (drifts.length === 0) return { name, passed: 'not checked', detail: 'NVML does not list this process' };
  const toleratedOf = (usedBefore: number) => Math.min(MOST_BYTES, Math.max(FLOOR_BYTES, SHARE * usedBefore));
  const leaked = drifts.filter(({ usedBefore, drift }) => drift > toleratedOf(usedBefore));
  const worst = Math.max(...drifts.map(({ drift }) => drift));
  return { name, passed: leaked.length === 0, detail: `worst drift of a block ${formatBytes(worst)}` };
}

/** The fields of a result without a number if the memory was not returned: allocations may have been answered from a hoard. */
export const invalidIfKept = ({ passed, detail }: Check): { status: 'invalid'; reason: string } | undefined =>
  passed === false ? { status: 'invalid', reason: `memory not returned: ${detail}` } : undefined;

/** How long the driver may take to free the memory of a process that ended. */
const SETTLES_MS = 3_000;
const LOOK_EVERY_MS = 50;

/**
 * Runs `use`, whose processes must all have ended when it settles, and checks that the card then uses as much memory as
 * before.
 */
export async function withCardAsFound<T>(
  { truth, signal }: Pick<MeasureContext, 'truth' | 'signal'>,
  use: () => Promise<T>,
  settlesMs = SETTLES_MS,
): Promise<{ used: T; asFound: Check }> {
  const name = 'the card is left as it was found';
  const usedBytes = async () => (await truth?.cardMemory())?.usedBytes ?? null;
  const before = await usedBytes();
  const used = await use();
  if (before === null)
    return { used, asFound: { name, passed: 'not checked', detail: 'no process checks the card from outside' } };
  let after = await usedBytes();
  for (let waited = 0; after !== before && waited < settlesMs; waited += LOOK_EVERY_MS) {
    await setTimeout(LOOK_EVERY_MS, undefined, { signal });
    after = await usedBytes();
  }
  if (after === null) return { used, asFound: { name, passed: 'not checked', detail: 'NVML stopped answering' } };
  const more = formatBytes(Math.abs(after - before));
  const detail =
    after === before
      ? `${formatBytes(before)} in use`
      : `${more} ${after > before ? 'more' : 'less'} in use than before`;
  return { used, asFound: { name, passed: after === before, detail } };
}
