/** The mean of independent values and its t interval, e.g. of one value per process. */
import { mean as average, sampleStandardDeviation } from 'simple-statistics';
import type { MedianEstimate } from './median.js';
import { aboveZero } from './positive.js';
import { tCritical } from './student-t.js';

/** The t interval of values of any sign; null below two values. */
function tInterval(values: readonly number[]): MedianEstimate['ci95'] {
  const df = values.length - 1;
  if (df < 1) return null;
  const half = (tCritical(0.05, df) * sampleStandardDeviation([...values])) / Math.sqrt(values.length);
  const middle = average([...values]);
  return [middle - half, middle + half];
}

/**
 * Throws RangeError without values; no interval below two. The interval of positive values lies above 0. Samples of one
 * process: `serialMean`.
 */
export function mean(values: readonly number[]): MedianEstimate {
  if (values.length === 0) throw new RangeError('Expected at least one sample but received none.');
  const value = average([...values]);
  const ci95 = tInterval(values);
  return { value, ci95: ci95 && values.every((each) => each > 0) ? aboveZero(value, ci95) : ci95 };
}

/**
 * The t interval for the level of independent values; of positive ones on their logarithms, so that it lies above 0.
 * Up to five values it contains their median.
 */
export function levelInterval(values: readonly number[]): MedianEstimate['ci95'] {
  if (!values.every((each) => each > 0)) return tInterval(values);
  const logs = tInterval(values.map(Math.log));
  return logs && [Math.exp(logs[0]), Math.exp(logs[1])];
}
