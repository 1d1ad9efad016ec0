/** The mean and its t interval. */
import { mean as average, sampleStandardDeviation } from 'simple-statistics';
import type { MedianEstimate } from './median.js';
import { tCritical } from './student-t.js';

/** Throws RangeError without samples; no interval below two. Assumes independent samples. */
export function mean(samples: readonly number[]): MedianEstimate {
  if (samples.length === 0) throw new RangeError('Expected at least one sample but received none.');
  const value = average([...samples]);
  const df = samples.length - 1;
  if (df < 1) return { value, ci95: null };
  const half = (tCritical(0.05, df) * sampleStandardDeviation([...samples])) / Math.sqrt(samples.length);
  return { value, ci95: [value - half, value + half] };
}
