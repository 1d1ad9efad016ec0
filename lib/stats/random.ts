/** Seeded randomness, so that a run can be repeated from its document. */
import { shuffle } from 'simple-statistics';

/** Mulberry32 (T. Ettinger): uniform in [0, 1); good enough for orders, not for secrets. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const shuffled = <T>(items: readonly T[], seed: number): T[] => shuffle([...items], seededRandom(seed));

/** Standard normal numbers by the transform of G. E. P. Box and M. E. Muller (1958). */
export const gaussianFrom = (random: () => number) => (): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
