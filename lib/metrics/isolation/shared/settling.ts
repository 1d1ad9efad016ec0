/** When the share of a limited tenant settles at its limit. */
import { LIMIT_TOLERANCE } from '../../../results/limit-tolerance.js';

interface Bins {
  binMs: number;
  /** Work of each bin in per cent of that without a limit, from the first launch on. */
  percent: readonly number[];
}

export interface Settling {
  /** Time from the first bin until the share stays at the limit; null if it never does. */
  afterMs: number | null;
  /** The last time at which it could have settled and been seen to stay. */
  observedMs: number;
  /** Excess over the limit before it settled, or in the whole time: per cent times seconds. */
  overshootPercentSeconds: number;
}

/** Length of the moving average, and of the time for which it must stay. */
const AVERAGE_MS = 500;
export const STAY_MS = 2_000 + AVERAGE_MS;

export function settling({ binMs, percent }: Bins, limitPercent: number): Settling {
  const width = Math.round(AVERAGE_MS / binMs);
  const stay = Math.round(STAY_MS / binMs) - width;
  const averages = percent
    .slice(0, Math.max(0, percent.length - width + 1))
    .map((_, i) => mean(percent.slice(i, i + width)));
  const within = averages.map((average) => Math.abs(average - limitPercent) <= LIMIT_TOLERANCE * limitPercent);
  const first = within.findIndex((_, i) => i + stay < within.length && within.slice(i, i + stay + 1).every(Boolean));
  const until = first < 0 ? percent.length : first;
  const above = percent.slice(0, until).reduce((sum, share) => sum + Math.max(0, share - limitPercent), 0);
  return {
    afterMs: first < 0 ? null : first * binMs,
    observedMs: Math.max(0, within.length - stay - 1) * binMs,
    overshootPercentSeconds: (above * binMs) / 1_000,
  };
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
