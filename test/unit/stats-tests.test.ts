import { describe, expect, it } from 'vitest';
import { mannWhitney } from '../../lib/stats/tests.js';

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

describe('Mann–Whitney', () => {
  // Two of all C(m+n, m) orders are as extreme as complete separation.
  it.each([
    [3, 3, 2 / 20],
    [4, 4, 2 / 70],
    [5, 5, 2 / 252],
    [3, 5, 2 / 56],
    [10, 10, 2 / 184756],
  ])('is exact for complete separation of %i and %i', (m, n, expected) =>
    expect(mannWhitney(range(1, m), range(m + 1, m + n))).toBeCloseTo(expected, 12),
  );
  it('counts the smaller orders: U = 1 of 3 and 3', () =>
    expect(mannWhitney([1, 2, 4], [3, 5, 6])).toBeCloseTo(0.2, 12));
  it('is 1 for indistinguishable samples', () => expect(mannWhitney([1, 4], [2, 3])).toBe(1));
  it('uses the normal approximation with ties', () => {
    // Calculated by hand: U = 2.5, ties of 3 and 2, variance 16/12·(9 − 30/56) = 11.286, z = (8 − 2.5 − 0.5)/√11.286 =
    // 1.488.
    expect(mannWhitney([1, 2, 2, 3], [2, 3, 4, 5])).toBeCloseTo(0.137, 2);
  });
  it('is null without values', () => expect(mannWhitney([], [1])).toBeNull());
});
