import { seededRandom } from '../../lib/stats/random.js';

/** 1, 2 … n: a sample whose ranks are its values. */
export const upTo = (n: number) => Array.from({ length: n }, (_, i) => i + 1);

/** Standard normal numbers by the Box–Muller transform. */
export function gaussian(seed: number): () => number {
  const random = seededRandom(seed);
  return () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}
