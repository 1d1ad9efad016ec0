/** Batches of launches between two events, as native/bench/llm/launch_timer.h makes them and the simulated driver records. */
import { median } from '../../lib/stats/median.js';
import type { Recorded, RecordedCall } from './record.js';

export interface TimedBatch {
  /** The kernel of the first launch. */
  kernel: string;
  launches: RecordedCall[];
  /** Bounds of the time between the events. */
  leastNs: number;
  mostNs: number;
}

/** How long an event may come after the last launch, and after its own call if the stream is idle. */
const BEHIND_LAUNCH_NS = 1_000;
const BEHIND_CALL_NS = 10_000;

/**
 * An event comes after what was launched before it, and not before its own call: a preemption between an event and a
 * launch lengthens the time between the events, but no launch. The card's time may be ahead of the host's
 * (native/sim/README.md); a batch then begins where the previous one ended.
 */
function timed(endedBefore: number, first: RecordedCall, launches: RecordedCall[], second: RecordedCall): TimedBatch {
  const [begin, end] = [launches[0] as RecordedCall, launches.at(-1) as RecordedCall];
  return {
    kernel: begin.kernel,
    launches,
    leastNs: Math.max(end.ends, second.entered) - begin.begins,
    mostNs: Math.max(end.ends + BEHIND_LAUNCH_NS, second.left + BEHIND_CALL_NS) - Math.max(endedBefore, first.entered),
  };
}

/** All batches in order, including uncounted ones. Every second event ends a batch. */
export function timedBatches({ calls }: Recorded): TimedBatch[] {
  const batches: TimedBatch[] = [];
  let first: RecordedCall | null = null;
  let launches: RecordedCall[] = [];
  let endedBefore = 0;
  for (const call of calls) {
    if (/^cuLaunchKernel(Ex)?$/.test(call.name)) launches.push(call);
    if (call.name !== 'cuEventRecord') continue;
    if (first && launches.length > 0) batches.push(timed(endedBefore, first, launches, call));
    first = first ? null : call;
    endedBefore = launches.at(-1)?.ends ?? endedBefore;
    launches = [];
  }
  return batches;
}

/** Least time per launch of a batch, in ns. */
export const leastOf = ({ leastNs, launches }: TimedBatch): number => leastNs / launches.length;
export const mostOf = ({ mostNs, launches }: TimedBatch): number => mostNs / launches.length;

/** Bounds of the median time per launch over the batches, in ns. */
export const medianLaunchNs = (batches: readonly TimedBatch[]): [least: number, most: number] => [
  median(batches.map(leastOf)).value,
  median(batches.map(mostOf)).value,
];
