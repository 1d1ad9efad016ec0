/** Stops between tokens, e.g. by a compute limit that holds a tenant back for a while. A median does not show them. */
import { sum } from 'simple-statistics';
import * as v from 'valibot';
import type { Check } from '../../results/document.js';
import { median } from '../../stats/median.js';
import { count, described, quantity } from '../core/details.js';
import { NS_PER_MS } from '../core/units.js';

/** A step is a stop from this many times the median on. */
const STOP = 10;
/** Share of the time, in per cent, from which on the median misleads. */
const MOST_LOST_PERCENT = 5;

export const stopsField = described(
  v.strictObject({
    count: count('Number of stops'),
    longestMs: v.nullable(quantity('ms', 'The longest; null without one')),
    lostPercent: quantity('%', 'Time between tokens that stops took, beyond a median step each'),
  }),
  `Steps of at least ${STOP} times the median`,
);

export type Stops = v.InferOutput<typeof stopsField>;

export function stopsIn(tokenNs: readonly number[]): Stops {
  const { value: usual } = median(tokenNs);
  const stops = tokenNs.filter((ns) => ns >= STOP * usual);
  return {
    count: stops.length,
    longestMs: stops.length === 0 ? null : Math.max(...stops) / NS_PER_MS,
    lostPercent: (100 * (sum(stops) - stops.length * usual)) / sum([...tokenNs]),
  };
}

/** Not a failure: a compute limit may hold in this way. */
export function steadyCheck(rows: readonly { mode: string; stops: Stops }[]): Check {
  const stopped = rows.filter(({ stops }) => stops.lostPercent > MOST_LOST_PERCENT);
  return {
    name: 'tokens came without stops',
    passed: stopped.length === 0 ? true : 'not checked',
    detail:
      stopped
        .map(
          ({ mode, stops: { count, longestMs, lostPercent } }) =>
            `by ${mode}, ${count} of up to ${longestMs?.toPrecision(3)} ms took ${lostPercent.toFixed(0)} % of the time, which the median does not show`,
        )
        .join('; ') || `at most ${MOST_LOST_PERCENT} % of the time, by launches and by a graph`,
  };
}
