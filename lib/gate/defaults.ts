/** Separate from the reader of thresholds, because --help must load no measurement code. */
export const DEFAULT_MAX_REGRESSION_PERCENT = 10;

/**
 * Of metrics whose values may be zero or negative, in their δ. δ is what noise alone may come to, so a tolerance of one δ
 * would fail on noise; 10 % is five times the usual δ of 2 % as well.
 */
export const DEFAULT_MAX_DIFFERENCE_DELTAS = 5;

/** One round does not show how processes differ. */
export const FEWEST_ROUNDS = 2;
export const MORE_ROUNDS = 'measure more rounds, e.g. compare --rounds 5';
