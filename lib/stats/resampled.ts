/** An interval for any figure of windows in time, by drawing windows with replacement. */
import { quantileSorted } from 'simple-statistics';
import { seededRandom } from './random.js';

const REPLICATES = 1_000;
/** With fewer windows there is no interval. */
export const FEWEST_WINDOWS = 6;

/**
 * 95 %, by percentiles. `counts`: how many windows each of several independent series has; `figure` gets as many places
 * of each, drawn with replacement. What is measured at the same time belongs to one series. It covers the windows' own
 * scatter within the processes, and takes them for independent.
 */
export function resampledCi95(
  counts: readonly number[],
  figure: (draws: readonly (readonly number[])[]) => number,
  seed: number,
): [number, number] | null {
  if (counts.some((count) => count < FEWEST_WINDOWS)) return null;
  const random = seededRandom(seed);
  const once = () => figure(counts.map((count) => Array.from({ length: count }, () => Math.floor(random() * count))));
  const sorted = Array.from({ length: REPLICATES }, once).sort((a, b) => a - b);
  return [quantileSorted(sorted, 0.025), quantileSorted(sorted, 0.975)];
}
