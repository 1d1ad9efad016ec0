/** Whether a process returned the device memory that it took. */
import type { Check } from '../results/document.js';
import { formatBytes } from './units.js';

const FLOOR_BYTES = 4 * 1024 ** 2;
const SHARE = 0.01;

/** For one process, by NVML; null if NVML does not report it. */
export interface MemorySpan {
  usedBefore: number | null;
  usedAfter: number | null;
}

/** Each must return what it took, within max(4 MiB, 1 %). */
export function returnedCheck(spans: readonly MemorySpan[]): Check {
  const name = 'memory returned';
  const drifts = spans.flatMap(({ usedBefore, usedAfter }) =>
    usedBefore === null || usedAfter === null ? [] : [{ usedBefore, drift: Math.abs(usedAfter - usedBefore) }],
  );
  if (drifts.length === 0) return { name, passed: 'not checked', detail: 'NVML does not list this process' };
  const leaked = drifts.filter(({ usedBefore, drift }) => drift > Math.max(FLOOR_BYTES, SHARE * usedBefore));
  const worst = Math.max(...drifts.map(({ drift }) => drift));
  return { name, passed: leaked.length === 0, detail: `worst drift of a block ${formatBytes(worst)}` };
}
