/** Converts nanoseconds to the unit a metric reports in, for values, intervals and samples. */
import type { MedianEstimate } from '../../stats/median.js';

export const NS_PER_US = 1_000;
export const NS_PER_MS = 1_000_000;
/** Readings of the host's clock (`native/base/clock.h`) are whole nanoseconds. */
export const HOST_STEP_NS = 1;
export const MIB = 2 ** 20;
export const GIB = 2 ** 30;

export function scaled({ value, ci95 }: MedianEstimate, divisor: number): MedianEstimate {
  return { value: value / divisor, ci95: ci95 && [ci95[0] / divisor, ci95[1] / divisor] };
}

export const scaledSamples = (samples: Float64Array, divisor: number): Float64Array<ArrayBuffer> =>
  Float64Array.from(samples, (x) => x / divisor);
