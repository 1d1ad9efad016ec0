/** Which launches of one process met a running kernel of another process, by the device's times of both. */
import type { Load, StartDelays } from '../../native/addon-types.js';
import { NS_PER_MS } from '../core/units.js';

/** Longest pause between two successive kernels of a queue. */
const BETWEEN_NS = 100_000;

/** One value per launch. `binNs`: the load's bin length, in whole milliseconds. */
export function residentAt(
  { originMs, calledNs }: Pick<StartDelays, 'originMs' | 'calledNs'>,
  { firstBin, kernelsListed }: Pick<Load, 'firstBin' | 'kernelsListed'>,
  binNs: number,
): boolean[] {
  const offset = (firstBin * (binNs / NS_PER_MS) - originMs) * NS_PER_MS;
  const kernels = kernelsListed.atNs.map((at, i) => ({
    from: at + offset - BETWEEN_NS,
    to: at + offset + (kernelsListed.tookNs[i] as number),
  }));
  kernels.sort((a, b) => a.from - b.from);
  return calledNs.map((called) => {
    // Finds the last kernel that began before the call: kernels of one stream follow one another.
    let low = 0;
    let high = kernels.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((kernels[middle]?.from ?? 0) <= called) low = middle + 1;
      else high = middle;
    }
    const before = kernels[low - 1];
    return before !== undefined && called <= before.to;
  });
}
