/**
 * An estimate of an effect on a scale where 0 is no effect, and its uncertainty. Interval, test and equivalence all come
 * from `halfWidth` and `pAt`, so they cannot contradict each other.
 */
import { mean, sampleVariance } from 'simple-statistics';
import { tCritical, tUpperTail } from '../student-t.js';

export type Interval = [number, number];

/** Student's t with this standard error. */
interface Spread {
  standardError: number;
  /** Degrees of freedom at a two-sided error rate. */
  df: (alpha: number) => number;
}

/** `own` is null where the values themselves show no spread; `recorded` where no spread is on record. */
export interface Estimate {
  centre: number;
  /** Spread of the values alone. */
  own: Spread | null;
  /** Spread on record, moderated by the values; see recorded-spread.ts. */
  recorded: Spread | null;
}

/**
 * Share of the error rate that goes to the recorded spread. Two tests at (1 − share)·α and share·α together hold α, so
 * an effect may be shown by either: two rounds alone can hardly show any.
 */
const RECORDED_SHARE = 0.02;

/** Each spread with its share of the error rate. */
export const shares = ({ own, recorded }: Estimate): [Spread, number][] => {
  if (!own) return recorded ? [[recorded, 1]] : [];
  return recorded
    ? [
        [own, 1 - RECORDED_SHARE],
        [recorded, RECORDED_SHARE],
      ]
    : [[own, 1]];
};

/** Half the width of the interval that holds the effect with probability 1 − alpha; null without any spread. */
export function halfWidth(estimate: Estimate, alpha: number): number | null {
  const widths = shares(estimate).map(
    ([{ standardError, df }, share]) => tCritical(share * alpha, df(share * alpha)) * standardError,
  );
  return widths.length === 0 ? null : Math.min(...widths);
}

export function intervalOf(estimate: Estimate, alpha = 0.05): Interval | null {
  const half = halfWidth(estimate, alpha);
  return half === null ? null : [estimate.centre - half, estimate.centre + half];
}

/** Two-sided p of the hypothesis that the effect is `value`; null without any spread. */
export function pAt(estimate: Estimate, value = 0): number | null {
  const distance = Math.abs(estimate.centre - value);
  const ps = shares(estimate).map(([spread, share]) => pOf(distance, spread) / share);
  return ps.length === 0 ? null : Math.min(1, ...ps);
}

/** No family is so large that a smaller p would change its verdict. */
const SMALLEST_P = 1e-12;

/**
 * The error rate at which the interval just reaches so far: the root of 2·P(T > t) = α, where df depends on α. Regula falsi
 * on logarithms with the Illinois rule (M. Dowell and P. Jarratt, 1971).
 */
function pOf(distance: number, { standardError, df }: Spread): number {
  const t = distance / standardError;
  const excess = (logAlpha: number) => Math.log(2 * tUpperTail(t, df(Math.exp(logAlpha)))) - logAlpha;
  let [low, high] = [Math.log(SMALLEST_P), 0];
  let [atLow, atHigh] = [excess(low), excess(high)];
  if (!(atLow > 0)) return SMALLEST_P;
  for (let i = 0; i < 100 && atHigh < 0 && high - low > 1e-10; i++) {
    const next = low + ((high - low) * atLow) / (atLow - atHigh);
    const found = excess(next);
    if (Math.abs(found) < 1e-12) return Math.exp(next);
    if (found > 0) [low, atLow, atHigh] = [next, found, atHigh / 2];
    else [high, atHigh, atLow] = [next, found, atLow / 2];
  }
  return Math.exp(high);
}

/** Variance of one value on a grid of this step around its true value. */
const gridVariance = (step: number): number => step ** 2 / 12;

/** The mean of independent values against zero. Throws RangeError without values. */
export function meanEstimate(values: readonly number[], step = 0): Estimate {
  if (values.length === 0) throw new RangeError('Expected at least one value but received none.');
  const [count, centre] = [values.length, mean([...values])];
  if (count < 2) return { centre, own: null, recorded: null };
  const variance = (sampleVariance([...values]) + gridVariance(step)) / count;
  return {
    centre,
    own: variance > 0 ? { standardError: Math.sqrt(variance), df: () => count - 1 } : null,
    recorded: null,
  };
}

/** One arm's mean: its squared standard error and degrees of freedom. */
interface Arm {
  variance: number;
  df: number;
}

/**
 * The difference of the means of two arms whose spreads may differ (B. L. Welch, 1947). What the rounds of both arms share
 * makes the interval wider than it had to be, never too narrow. Throws RangeError if an arm has no values.
 */
export function differenceEstimate(
  a: readonly number[],
  b: readonly number[],
  steps: readonly [number, number] = [0, 0],
): Estimate {
  if (a.length === 0 || b.length === 0) throw new RangeError('Expected at least one value an arm but received none.');
  const centre = mean([...a]) - mean([...b]);
  if (a.length < 2 || b.length < 2) return { centre, own: null, recorded: null };
  const arms = [a, b].map((values, i): Arm => ({
    variance: (sampleVariance([...values]) + gridVariance(steps[i] as number)) / values.length,
    df: values.length - 1,
  })) as [Arm, Arm];
  return { centre, own: spreadOfArms(arms), recorded: null };
}

/** Null if neither varies. */
function spreadOfArms(arms: readonly [Arm, Arm]): Spread | null {
  const [large, small] = [...arms].sort((x, y) => y.variance - x.variance) as [Arm, Arm];
  const standardError = Math.sqrt(large.variance + small.variance);
  return standardError > 0 ? { standardError, df: welchDf(large, small) } : null;
}

/** The spread of the difference of two means over `rounds` values each, for known variances of single values. */
export function spreadOfDifference(variances: readonly [number, number], rounds: number): Spread {
  const [a, b] = variances.map((variance): Arm => ({ variance: variance / rounds, df: rounds - 1 })) as [Arm, Arm];
  return spreadOfArms([a, b]) ?? { standardError: 0, df: () => 2 * (rounds - 1) };
}

/**
 * Degrees of freedom by F. E. Satterthwaite (1946), with the larger variance taken √(5 % / α) times as large at error
 * rates below 5 %. Five values an arm do not show that both vary equally: at the rates that one effect of 66 is tested at
 * the plain formula finds twice as many false differences as it says where one arm varies five times as much.
 */
const welchDf = (large: Arm, small: Arm) => (alpha: number) => {
  // Relative to the larger variance, because small ones cannot be squared.
  const [l, s] = [Math.max(1, Math.sqrt(0.05 / alpha)), small.variance / large.variance];
  return (l + s) ** 2 / (l ** 2 / large.df + s ** 2 / small.df);
};
