/**
 * How far a card is from the others, in a scale that outliers themselves cannot stretch: the median and the median
 * absolute deviation (MAD).
 */
import { tUpperTail } from '../../stats/student-t.js';

/** With fewer cards the MAD says too little: in one of 13 metrics an outlier would have to be hundreds of MADs away. */
export const FEWEST_CARDS = 5;
/** The MAD of a normal distribution in its standard deviations. */
const NORMAL_MAD = 0.6745;
/** A MAD has 37 % of the information of a standard deviation. */
const DEGREES_PER_CARD = 0.4;

export interface Robust {
  median: number;
  mad: number;
}

/** Expects one value or more. */
export function robustOf(values: ArrayLike<number>): Robust {
  const middle = middleOf(Float64Array.from(values).sort());
  return { median: middle, mad: middleOf(Float64Array.from(values, (value) => Math.abs(value - middle)).sort()) };
}

const middleOf = (sorted: Float64Array): number =>
  ((sorted[(sorted.length - 1) >> 1] as number) + (sorted[sorted.length >> 1] as number)) / 2;

/** Distance from the median in robust standard deviations; null where more than half of the values are equal. */
export const scoreOf = (value: number, { median, mad }: Robust): number | null =>
  mad > 0 ? (NORMAL_MAD * (value - median)) / mad : null;

/**
 * P of a score at least as large, to one side, if the cards differ by normal noise. Scores of n values have the tails of
 * Student's t with 0.4 · (n − 1) degrees of freedom or lighter (simulated for 5 to 200 values, down to p = 1e-5).
 */
export const pOfScore = (score: number, cards: number): number => tUpperTail(score, DEGREES_PER_CARD * (cards - 1));
