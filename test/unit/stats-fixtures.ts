import { seededRandom } from '../../lib/stats/random.js';

/** 1, 2 … n: a sample whose ranks are its values. */
export const upTo = (n: number) => Array.from({ length: n }, (_, i) => i + 1);

/** Standard normal numbers by the Box–Muller transform. */
export function gaussian(seed: number): () => number {
  const random = seededRandom(seed);
  return () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** Normal numbers around 0 with a variance of 1, of which neighbours correlate by `rho`. */
export function related(noise: () => number, count: number, rho: number): number[] {
  const samples = [noise()];
  while (samples.length < count) samples.push(rho * (samples.at(-1) as number) + Math.sqrt(1 - rho * rho) * noise());
  return samples;
}
