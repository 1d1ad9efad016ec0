/** Calls that stall rarely: a median does not show them, but the document's own mean does. */
import { median } from '../stats/median.js';
import type { Unknown } from '../results/answer-schema.js';
import type { CallEffect, MetricResult, RunDocument } from '../results/document.js';
import { grouped } from '../results/text/grouped.js';
import { plain } from '../results/text/plain.js';
import { quantity } from '../results/text/quantity.js';
import type { View } from '../results/view.js';
import { named } from './candidates.js';

/**
 * How many medians a mean must be to count as stalling. In 122 recorded results of a driver's allocations and frees the
 * largest was 1.9.
 */
const STALLING = 3;

const TIMES: readonly string[] = ['ns', 'us', 'ms', 's'];

/**
 * Divides the mean by the median; null for a unit other than time, and for a difference, whose median may be near zero.
 */
function meanOverMedian({ status, unit, stats }: MetricResult): number | null {
  if (status !== 'ok' || !TIMES.includes(unit) || !stats || stats.min <= 0) return null;
  const { mean, p50 } = stats;
  return p50 !== null && p50 > 0 ? mean / p50 : null;
}

/**
 * Describes a stall: `the mean of OH-008 is 9.2 times its median, the slowest 38.2 us`; null if most rounds have none.
 */
function stallOf(results: readonly MetricResult[]): string | null {
  const ratios = results.flatMap((result) => meanOverMedian(result) ?? []);
  const ratio = ratios.length > 0 ? median(ratios).value : 0;
  if (ratio < STALLING) return null;
  const [{ id, unit }] = results as [MetricResult];
  const largest = Math.max(...results.flatMap(({ stats }) => stats?.max ?? []));
  return `the mean of ${id} is ${ratio.toPrecision(2)} times its median, the slowest ${quantity(largest, unit)}`;
}

const ofRounds = (rounds: readonly RunDocument[]): string[] =>
  [
    ...grouped(
      rounds.flatMap(({ metrics }) => metrics),
      ({ id }) => id,
    ).values(),
  ].flatMap((results) => stallOf(results) ?? []);

/** Returns the stalls of every system, the baseline too: a driver that stalls is named before a layer is blamed. */
export const stallsOf = ({ systems }: View): Unknown[] =>
  systems.flatMap(({ name, rounds }) => {
    const found = ofRounds(rounds.flatMap((round) => round ?? []));
    if (found.length === 0) return [];
    return [{ text: plain(`${name} stalls rarely, which medians do not show: ${named(found)}.`), command: null }];
  });

/** Says what few calls cost on top of the median, by the trimmed mean of the same pairs; null if they cost no more. */
export function pairStall({ overheadNs, trimmed }: CallEffect): string | null {
  if (!trimmed?.overheadCi95) return null;
  const [low] = trimmed.overheadCi95;
  const stalls = low > 0 && low > overheadNs && trimmed.overheadNs >= STALLING * Math.max(overheadNs, 0);
  return stalls ? `few calls pay for many: +${quantity(trimmed.overheadNs, 'ns')} by the trimmed mean` : null;
}
