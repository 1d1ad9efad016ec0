/**
 * Whether a true value is recovered, as the design (Calibration) defines it. All numbers of one call share one unit.
 */
import { expect } from 'vitest';
import { median } from '../../lib/stats/median.js';

export interface Estimate {
  value: number | null;
  ci95: readonly [number, number] | null;
}

export interface Truth {
  truth: number;
  /** Largest error that is accepted regardless of the interval. */
  tolerance: number;
  /** Largest half-width of the 95 % interval: an estimate with a wide interval recovers nothing. */
  resolution: number;
  /** The true value is of the very same calls: their variation does not excuse an error. */
  sameCalls?: boolean;
}

/**
 * How much wider an interval may be than its resolution: interruptions outside the recorded calls make the values vary
 * more than the record. On a quiet machine the value's own interval decides.
 */
const INTERRUPTED = 2;

/** Ratio of the normal quantiles of 99.9 % and 95 %, two-sided. */
export const WIDENING = 3.2905 / 1.96;

/** Why the true value is not recovered, or null if it is. */
export function miss(
  { value, ci95 }: Estimate,
  { truth, tolerance, resolution, sameCalls = false }: Truth,
): string | null {
  if (value === null || !Number.isFinite(value)) return `no estimate of ${truth}`;
  // Samples that are few, or depend on each other, have no interval: the variation of the record decides.
  const halfWidth = ci95 ? (ci95[1] - ci95[0]) / 2 : resolution;
  if (!(halfWidth <= INTERRUPTED * resolution))
    return `95 % half-width ${halfWidth} of ${value} is above ${INTERRUPTED * resolution}`;
  const allowed = sameCalls ? tolerance : Math.max(tolerance, WIDENING * halfWidth);
  if (Math.abs(value - truth) <= allowed) return null;
  return `${value} is off ${truth} by ${value - truth}, more than ${allowed}`;
}

/** Fails with every true value that was missed, by name. */
export function expectRecovered(rows: readonly (readonly [name: string, estimate: Estimate, truth: Truth])[]): void {
  expect(rows.length).toBeGreaterThan(0);
  const missed = rows.flatMap(([name, estimate, truth]) => miss(estimate, truth)?.replace(/^/, `${name}: `) ?? []);
  expect(missed, missed.join('; ')).toEqual([]);
}

/** The range of the median of `count` of these values, whichever of them count. */
export function medianWithin(values: readonly number[], count: number): [least: number, most: number] {
  const sorted = [...values].sort((a, b) => a - b);
  return [median(sorted.slice(0, count)).value, median(sorted.slice(-count)).value];
}
