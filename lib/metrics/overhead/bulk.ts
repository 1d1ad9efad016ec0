/**
 * Whether a median hides work that a layer does for many calls at once: most calls are then answered without the driver, and a
 * few pay for all. A driver alone has slow calls too, so its own time in the same process is the measure, not the spread.
 */
import type { Check } from '../../results/document.js';
import { median } from '../../stats/median.js';
import { formatBytes } from '../../results/text/format-bytes.js';

const SERVED = 'every call is served by the driver';
const GROWN = 'allocations take memory of the GPU';

/** A layer adds to a call. It cannot hand the call to the driver and need less than a third of the driver's own time. */
const UNSERVED = 1 / 3;
/** Calls beyond this many medians are those that pay. */
const PAYING = 10;
const FEWEST_PAYING = 3;

/** `bareNs`: what the driver alone takes for the call; null if that was not measured. */
export function bulkCheck(samplesNs: Float64Array, bareNs: number | null): Check {
  const name = SERVED;
  if (bareNs === null) return { name, passed: 'not checked', detail: 'the call was not measured past the layer' };
  const middle = median(samplesNs).value;
  const mean = samplesNs.reduce((sum, ns) => sum + ns, 0) / samplesNs.length;
  const paying = samplesNs.filter((ns) => ns > PAYING * middle);
  const paid = paying.reduce((sum, ns) => sum + ns, 0) / samplesNs.length;
  const detail = `median ${inUs(middle)}, mean ${inUs(mean)}, the driver alone ${inUs(bareNs)}`;
  const hides = mean > bareNs / 2 || (paying.length >= FEWEST_PAYING && paid > mean / 2);
  return { name, passed: middle >= UNSERVED * bareNs || !hides, detail };
}

const inUs = (ns: number): string => `${(ns / 1_000).toPrecision(3)} us`;

/** Device memory of a process before and with its live blocks. */
interface LiveMemory {
  bytes: number;
  live: number;
  usedBefore: number | null;
  usedLive: number | null;
}

/** What NVML may count otherwise, by the page or the driver's own reserve. */
const LEAST_SEEN = 16 * 1024 ** 2;

/** Blocks that were just allocated must show in NVML, at least by half: the rest may come from memory that was left over. */
export function grownCheck(blocks: readonly LiveMemory[]): Check {
  const name = GROWN;
  const seen = blocks.flatMap(({ bytes, live, usedBefore, usedLive }) =>
    usedBefore === null || usedLive === null || bytes * live < LEAST_SEEN
      ? []
      : [{ asked: bytes * live, grown: usedLive - usedBefore }],
  );
  const [first] = seen;
  if (!first)
    return { name, passed: 'not checked', detail: 'NVML does not list this process, or the blocks are too few to see' };
  const worst = seen.reduce(
    (least, each) => (each.grown / each.asked < least.grown / least.asked ? each : least),
    first,
  );
  const grown = `${worst.grown < 0 ? '-' : ''}${formatBytes(Math.abs(worst.grown))}`;
  return {
    name,
    passed: worst.grown >= worst.asked / 2,
    detail: `the memory of this process grew by ${grown} for ${formatBytes(worst.asked)}`,
  };
}

/** The fields of a result without a number if one of the checks failed. */
export function invalidIfHidden(checks: readonly Check[]): { status: 'invalid'; reason: string } | undefined {
  const failed = checks.find(({ passed }) => passed === false);
  return failed && { status: 'invalid', reason: `${REASONS[failed.name] ?? failed.name}: ${failed.detail}` };
}

const REASONS: Readonly<Record<string, string>> = {
  [SERVED]: 'most calls are answered without the driver, and a few pay for all',
  [GROWN]: 'allocations are answered from memory that was taken before',
};

/** The driver's own time in the first row of pairs; null where the pair has none. */
export const bareOf = (pairs: unknown): number | null => {
  const [row] = Array.isArray(pairs) ? (pairs as { bareNs?: unknown }[]) : [];
  return typeof row?.bareNs === 'number' ? row.bareNs : null;
};
