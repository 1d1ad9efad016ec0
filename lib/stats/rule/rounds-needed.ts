/**
 * How many rounds a verdict needs, and the smallest effect that a number of rounds finds, from how much single values
 * vary. The verdict's own critical values decide; the power of a t test is the normal approximation of N. L. Johnson and
 * B. L. Welch (1940). bench/power.js checks the result against simulated verdicts.
 */
import { probit, sampleVariance } from 'simple-statistics';
import { shares, spreadOfDifference } from './estimate.js';
import { FALSE_DISCOVERY_RATE } from './false-discoveries.js';
import { withRecorded } from './recorded-spread.js';
import { tCritical } from '../student-t.js';

const MOST = 500;
/** Probability with which the rounds that are named lead to a verdict, if the estimates so far are right. */
const POWER = 0.8;
/** Each of the two one-sided tests of `same`. */
const SAME_ALPHA = 0.05;

/** Variances of single values of the two arms, on the scale of δ. */
export type Variances = readonly [system: number, baseline: number];

export const variancesOf = (...arms: [readonly number[], readonly number[]]): Variances => {
  const [system, baseline] = arms.map((values) => sampleVariance([...values]));
  return [system as number, baseline as number];
};

/** The family of an effect: how many were tested, and how many differences are established beside it. */
export interface Family {
  tested: number;
  established: number;
}

/** Two-sided error rate at which one more effect of the family is established. */
export const rateFor = ({ tested, established }: Family): number =>
  Math.min(FALSE_DISCOVERY_RATE, (FALSE_DISCOVERY_RATE * (established + 1)) / Math.max(1, tested));

/**
 * The distance from a bound at which a test at the two-sided rate `alpha` finds it with this power. On the scale of the
 * variances. `recordedSd`: the recorded standard deviation of one value, if the test uses it too; the distance is then
 * rather too long, because a recorded spread varies less than this approximation says.
 */
function distance(
  variances: Variances,
  rounds: number,
  alpha: number,
  power: number,
  recordedSd: number | null = null,
): number {
  const own = spreadOfDifference(variances, rounds);
  const distances = shares(withRecorded({ centre: 0, own, recorded: null }, recordedSd, rounds)).map(
    ([{ standardError, df }, share]) => {
      const critical = standardError * tCritical(share * alpha, df(share * alpha));
      return critical + probit(power) * Math.hypot(own.standardError, critical / Math.sqrt(2 * df(1)));
    },
  );
  return Math.min(...distances);
}

/** The smallest effect that this many rounds establish with this power. `recordedSd`: as the metric's model has it. */
export const detectable = (
  variances: Variances,
  rounds: number,
  family: Family,
  power: number,
  recordedSd: number | null = null,
): number => distance(variances, rounds, rateFor(family), power, recordedSd);

/** The fewest rounds, from `fewest` to `most`, that establish an effect of that size; null if more are needed. */
export function roundsToDetect(
  size: number,
  variances: Variances,
  { fewest, most, power, family }: { fewest: number; most: number; power: number; family: Family },
): number | null {
  for (let rounds = fewest; rounds <= most; rounds++)
    if (detectable(variances, rounds, family, power) <= size) return rounds;
  return null;
}

/**
 * The rounds at which an effect of this size will be established or shown to be within ±bound, whichever needs fewer.
 * Null above 500.
 */
export function roundsToDecide(
  size: number,
  variances: Variances,
  { bound, family, after }: { bound: number; family: Family; after: number },
): number | null {
  const margin = bound - Math.abs(size);
  for (let rounds = after + 1; rounds <= MOST; rounds++) {
    if (detectable(variances, rounds, family, POWER) <= Math.abs(size)) return rounds;
    if (distance(variances, rounds, 2 * SAME_ALPHA, POWER) <= margin) return rounds;
  }
  return null;
}

/** One-sided upper limit of variances that were estimated from this many values an arm (Wilson and Hilferty, 1931). */
export function upperVariances(variances: Variances, values: number, confidence: number): Variances {
  const df = spreadOfDifference(variances, values).df(1);
  const chi = df * (1 - 2 / (9 * df) + probit(1 - confidence) * Math.sqrt(2 / (9 * df))) ** 3;
  return [(variances[0] * df) / chi, (variances[1] * df) / chi];
}
