/** Apart from what reads thresholds, because --help must load nothing that measures. */
export const DEFAULT_MAX_REGRESSION_PERCENT = 10;
