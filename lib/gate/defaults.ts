/** This is a separate file, because --help must load no measurement code. */
export const DEFAULT_MAX_REGRESSION_PERCENT = 10;

/**
 * Tolerance for metrics whose values may be zero or negative, in units of their δ. Noise alone can reach one δ, so that
 * tolerance would fail on noise; likewise 10 % is five times the usual δ of 2 %.
 */
export const DEFAULT_MAX_DIFFERENCE_DELTAS = 5;

/** A single round does not show how processes differ. */
export const FEWEST_ROUNDS = 2;
export const MORE_ROUNDS = 'measure more rounds, e.g. with --rounds 5';
