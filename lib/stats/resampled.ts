/** An interval for any statistic of time windows, by drawing windows with replacement. */
import { mean, quantileSorted } from 'simple-statistics';
import { seededRandom } from './random.js';

export const REPLICATES = 1_000;
/** With fewer windows there is no interval. */
export const FEWEST_WINDOWS = 6;

/** Receives indices of windows for each series. */
export type Figure = (draws: readonly (readonly number[])[]) => number;

/** Ascending; null with too few windows. */
function replicates(counts: readonly number[], figure: Figure, seed: number): number[] | null {
  if (counts.some((count) => count < FEWEST_WINDOWS)) return null;
  const random = seededRandom(seed);
  const once = () => figure(counts.map((count) => Array.from({ length: count }, () => Math.floor(random() * count))));
  return Array.from({ length: REPLICATES }, once).sort((a, b) => a - b);
}

/**
 * 95 % percentile interval. `counts`: the number of windows in each of several independent series; `figure` receives as
 * many indices for each, drawn with replacement. Values measured at the same time belong to one series. Covers only the
 * windows' variation within the processes, and assumes independent windows.
 *
 * `figure` must not choose among tenants: the lowest of several means is lower in a draw than in all windows, and the
 * interval would lie below the value.
 */
export function resampledCi95(counts: readonly number[], figure: Figure, seed: number): [number, number] | null {
  const sorted = replicates(counts, figure, seed);
  return sorted && [quantileSorted(sorted, 0.025), quantileSorted(sorted, 0.975)];
}

/**
 * The same for a figure of at least 0 that is a kind of variance, and so grows with the noise that drawing windows adds:
 * the limits are scaled so that the mean of the draws is the figure of all windows.
 */
export function resampledVarianceCi95(count: number, figure: Figure, seed: number): [number, number] | null {
  const sorted = replicates([count], figure, seed);
  if (!sorted) return null;
  const drawn = mean(sorted);
  const scale = drawn > 0 ? figure([Array.from({ length: count }, (_, i) => i)]) / drawn : 1;
  return [scale * quantileSorted(sorted, 0.025), scale * quantileSorted(sorted, 0.975)];
}
