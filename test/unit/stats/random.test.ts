import { describe, expect, it } from 'vitest';
import { seededRandom, shuffled } from '../../../lib/stats/random.js';

describe('seededRandom', () => {
  const take = (seed: number, count: number) => {
    const random = seededRandom(seed);
    return Array.from({ length: count }, random);
  };

  it('is Mulberry32', () => {
    // The reference implementation's first words for seed 1 (gist.github.com/tommyettinger/46a874533244883189143505d203312c).
    const reference = (seed: number) => {
      let a = seed | 0;
      return () => {
        a = (a + 0x6d2b79f5) | 0;
        let t = Math.imul(a ^ (a >>> 15), 1 | a);
        t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
        return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
      };
    };
    for (const seed of [0, 1, 12345, 0xffffffff])
      expect(take(seed, 50)).toEqual(Array.from({ length: 50 }, reference(seed)));
  });

  it('repeats for a seed and differs between seeds', () => {
    expect(take(7, 20)).toEqual(take(7, 20));
    expect(take(7, 20)).not.toEqual(take(8, 20));
  });

  it('is uniform in [0, 1)', () => {
    const draws = take(42, 100_000);
    expect(draws.every((x) => x >= 0 && x < 1)).toBe(true);
    // Chi-square over 100 bins, 99 degrees of freedom: 99.9 % of correct generators stay below 148.2.
    const bins = new Array<number>(100).fill(0);
    for (const x of draws) bins[Math.floor(x * 100)] = (bins[Math.floor(x * 100)] as number) + 1;
    const expected = draws.length / bins.length;
    expect(bins.reduce((sum, n) => sum + (n - expected) ** 2 / expected, 0)).toBeLessThan(148.2);
  });
});

describe('shuffled', () => {
  const items = ['a', 'b', 'c', 'd', 'e'] as const;

  it('keeps every item, and does not change its input', () => {
    const input = [...items];
    expect(shuffled(input, 1).sort()).toEqual([...items]);
    expect(input).toEqual([...items]);
  });

  it('repeats for a seed', () => expect(shuffled(items, 99)).toEqual(shuffled(items, 99)));

  it('puts every item at every position equally often', () => {
    const rounds = 5_000;
    const seen = new Map<string, number>();
    for (let seed = 0; seed < rounds; seed++)
      for (const [place, item] of shuffled(items, seed).entries()) {
        const key = `${item}${place}`;
        seen.set(key, (seen.get(key) ?? 0) + 1);
      }
    expect(seen.size).toBe(25);
    // 5 000 draws of probability 1/5: four standard deviations are 113.
    for (const count of seen.values()) expect(Math.abs(count - rounds / 5)).toBeLessThan(113);
  });

  it.each([[[]], [['only']]])('does not change %j', (few) => expect(shuffled(few, 1)).toEqual(few));

  it('accepts the largest seed an option may name', () =>
    expect(shuffled(items, 2 ** 48 - 1).sort()).toEqual([...items]));
});
