/** Which values of a run have no interval, and why. */
import type { RunDocument } from './document.js';
import { grouped } from './text/grouped.js';

/** One line for each reason, with the metrics that share it. */
export function missingIntervals({ metrics }: RunDocument): string[] {
  const without = metrics.flatMap(({ id, noInterval }) => (noInterval === undefined ? [] : [{ id, why: noInterval }]));
  return [...grouped(without, ({ why }) => why)].map(([why, some]) => `${some.map(({ id }) => id).join(', ')}: ${why}`);
}
