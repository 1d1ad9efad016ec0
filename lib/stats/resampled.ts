/** An interval for any statistic of time windows, by drawing windows with replacement. */
import { quantileSorted } from 'simple-statistics';
import { seededRandom } from './random.js';

const REPLICATES = 1_000;
/** With fewer windows there is no interval. */
export const FEWEST_WINDOWS = 6;

/**
 * 95 % percentile interval. `counts`: the number of windows in each of several independent series; `figure` receives as
 * many indices for each, drawn with replacement. Values measured at the same time belong to one series. Covers only the
 * windows' variation within the processes, and assumes independent windows.
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
