/**
 * A spread on record for a metric, for comparisons of so few rounds that their own spread says little. It is a bound, not
 * an expectation: the recorded standard deviation in one arm and five times as much in the other.
 */
import type { Estimate } from './estimate.js';

/** How much more than recorded one arm may vary. */
const WORSE = 5;
/** Degrees of freedom that the record counts for, so that rounds which vary more than the bound prevail. */
const RECORD_DF = 8;

/**
 * Adds the spread of a difference of two means over `rounds` values each, from the recorded standard deviation of one
 * value: variances are averaged by their degrees of freedom (G. K. Smyth, 2004).
 */
export function withRecorded(estimate: Estimate, sd: number | null, rounds: number): Estimate {
  const { own } = estimate;
  if (sd === null || rounds < 2) return estimate;
  const record = (sd ** 2 * (1 + WORSE ** 2)) / rounds;
  if (!own) return { ...estimate, recorded: { standardError: Math.sqrt(record), df: () => RECORD_DF } };
  const ownDf = own.df(1);
  const variance = (RECORD_DF * record + ownDf * own.standardError ** 2) / (RECORD_DF + ownDf);
  return { ...estimate, recorded: { standardError: Math.sqrt(variance), df: (alpha) => RECORD_DF + own.df(alpha) } };
}
