/** How evenly something is divided. */
import type { Interval } from './rule/estimate.js';
import { FEWEST_EFFECTIVE, longRun, mean, neighbourCorrelation, SLOW_PARTS, slowParts } from './long-run.js';
import { gaussianFrom, seededRandom } from './random.js';

const DRAWS = 1_000;
/** Halvings of a factor's range: to a thousandth. */
const BISECTIONS = 12;
const squared = (values: readonly number[]): number => values.reduce((sum, value) => sum + value ** 2, 0);

/** What each part is above or below the mean part, relative to it. The index is 1 ÷ (1 + the mean of their squares). */
const unevenness = (parts: readonly number[]): number[] => {
  const middle = mean(parts);
  return parts.map((part) => part / middle - 1);
};

/**
 * Jain, Chiu and Hawe: 1 where all are equal, 1/n where one tenant has everything; null where every share is 0. Written
 * by the unevenness, it is never above 1 by rounding.
 */
export const jain = (parts: readonly number[]): number | null =>
  mean(parts) > 0 ? 1 / (1 + squared(unevenness(parts)) / parts.length) : null;

/**
 * 95 % interval of the index of the sums, for what each tenant got in each of the same consecutive windows. Noise makes
 * equal parts look uneven and never the reverse, so the interval holds every unevenness that is not refuted: with
 * drawn noise, at least 2.5 % of the observations would be as even, and 2.5 % as uneven. It holds 1 if none is shown.
 * Null with fewer than ten effective windows, or without work.
 */
export function jainCi95(windows: readonly (readonly number[])[], seed: number): Interval | null {
  const parts = windows.map(mean);
  if (windows.length < 2 || !(mean(parts) > 0)) return null;
  const noise = noiseOf(windows, parts);
  if (!noise) return null;
  const random = seededRandom(seed);
  const seen = unevenness(parts);
  const observed = squared(seen);
  if (observed === 0) return null;
  const draws = Array.from({ length: DRAWS }, (): Draw => {
    const errors = noise(random);
    return { size: squared(errors), along: errors.reduce((sum, error, i) => sum + error * (seen[i] as number), 0) };
  });
  const [least, most] = [Math.min(1, factorAt(0.975, draws, observed)), Math.max(1, factorAt(0.025, draws, observed))];
  const index = (factor: number) => 1 / (1 + (factor ** 2 * observed) / parts.length);
  return [Math.max(1 / parts.length, index(most)), index(least)];
}

/** Draws errors of `unevenness`; null with too few effective windows. */
function noiseOf(
  windows: readonly (readonly number[])[],
  parts: readonly number[],
): ((random: () => number) => number[]) | null {
  const middle = mean(parts);
  const correlations = windows.map(neighbourCorrelation);
  const runs = windows.map((own, tenant) => longRun(own, correlations[tenant] as number));
  if (runs.some(({ effectiveSamples }) => effectiveSamples < FEWEST_EFFECTIVE)) return null;
  const correlation = Math.max(...correlations);
  const count = (windows[0] as readonly number[]).length;
  const slow = windows.map((own) => slowParts(own, correlation).map((part) => part / (middle * Math.sqrt(count))));
  if (slow.every((own) => squared(own) === 0)) return null;
  return (random) => {
    const gaussian = gaussianFrom(random);
    const weights = Array.from({ length: SLOW_PARTS }, gaussian);
    // The square root of a χ² of as many degrees of freedom: the errors follow a t distribution.
    const scale = Math.sqrt(squared(Array.from({ length: SLOW_PARTS }, gaussian)));
    const errors = slow.map((own) => own.reduce((sum, part, i) => sum + part * (weights[i] as number), 0) / scale);
    const common = mean(errors);
    return errors.map((error) => error - common);
  };
}

/** A draw of noise: its own size, and its product with the seen unevenness. */
interface Draw {
  size: number;
  along: number;
}

/**
 * The factor of the seen unevenness with which a share `p` of the observations would be as even as the seen one; 0 if
 * fewer are without any unevenness.
 */
function factorAt(p: number, draws: readonly Draw[], observed: number): number {
  const asEven = (factor: number): number =>
    draws.filter(({ size, along }) => size + 2 * factor * along + factor ** 2 * observed <= observed).length /
    draws.length;
  if (asEven(0) <= p) return 0;
  let [low, high] = [0, 1];
  while (asEven(high) > p) [low, high] = [high, 2 * high];
  for (let step = 0; step < BISECTIONS; step++) {
    const middle = (low + high) / 2;
    if (asEven(middle) > p) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
