import { gaussianFrom, seededRandom } from '../../../lib/stats/random.js';

/** 1, 2 … n: a sample whose ranks are its values. */
export const upTo = (n: number) => Array.from({ length: n }, (_, i) => i + 1);

/** Standard normal numbers. */
export const gaussian = (seed: number): (() => number) => gaussianFrom(seededRandom(seed));

/** Normal numbers around 0 with a variance of 1, of which neighbours correlate by `rho`. */
export function related(noise: () => number, count: number, rho: number): number[] {
  const samples = [noise()];
  while (samples.length < count) samples.push(rho * (samples.at(-1) as number) + Math.sqrt(1 - rho * rho) * noise());
  return samples;
}
