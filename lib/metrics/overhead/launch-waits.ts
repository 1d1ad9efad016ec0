/** Whether any launch waited for the limiter although the load is far below its limit. */
import type { Check } from '../../results/document.js';
import type { PacedLaunches } from '../../native/addon-types.js';

/** The shortest wait of a launch that finds no token. */
const QUANTUM_NS = 10_000_000;
/**
 * The share of launches of that length that may be explained by preemption; with more, limiters that yield would be
 * excused.
 */
const MOST_PREEMPTED = 0.01;

/** Launches that took a quantum or more, by whether the scheduler preempted them meanwhile. */
export const waitsIn = (turns: readonly PacedLaunches[]): { preempted: boolean }[] =>
  turns.flatMap(({ tookNs, preempted }) =>
    tookNs.flatMap((ns, place) => (ns >= QUANTUM_NS ? [{ preempted: preempted.includes(place) }] : [])),
  );

/** `turns`: launches in the tenant with the limit. */
export function demandCheck(turns: readonly PacedLaunches[]): Check {
  const longest = turns.reduce((most, { tookNs }) => tookNs.reduce((a, b) => Math.max(a, b), most), 0);
  const launches = turns.reduce((sum, { tookNs }) => sum + tookNs.length, 0);
  const waits = waitsIn(turns);
  const preempted = waits.filter((wait) => wait.preempted).length;
  const excused = waits.length === 0 ? '' : `; ${waits.length} took that long, ${preempted} of them preempted`;
  return {
    name: 'demand was below the budget',
    passed: preempted === waits.length && waits.length <= MOST_PREEMPTED * launches,
    detail: `longest launch with the limit ${(longest / 1e6).toFixed(3)} ms, a limiter's quantum is ${QUANTUM_NS / 1e6} ms${excused}`,
  };
}
