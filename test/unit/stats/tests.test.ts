import { describe, expect, it } from 'vitest';
import { normalUpperTail } from '../../../lib/stats/normal.js';
import { mannWhitney } from '../../../lib/stats/rule/tests.js';

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
  it('is exact with ties too: 14 of 70 choices are as far from the middle', () =>
    expect(mannWhitney([1, 2, 2, 3], [2, 3, 4, 5])).toBeCloseTo(14 / 70, 12));
  it.each([
    [[1, 1, 1], [2, 2, 2], 2 / 20],
    [[5, 5], [5, 6], 1],
    [[1, 2, 2], [2, 2, 3], 0.6],
  ])('counts choices of %j and %j', (a, b, expected) => expect(mannWhitney(a, b)).toBeCloseTo(expected, 12));
  it('is null if all values are equal', () => expect(mannWhitney([3, 3], [3, 3, 3])).toBeNull());
  it('has no lower limit with many values', () => {
    // Complete separation of 50 and 50: z = (1250 − 0.5) / √(2500·101/12) = 8.614.
    const p = mannWhitney(range(1, 50), range(51, 100)) as number;
    expect(p).toBeGreaterThan(6.9e-18);
    expect(p).toBeLessThan(7.2e-18);
  });
});

describe('the normal tail', () => {
  it.each([
    [0, 0.5],
    [1, 0.15865525393145707],
    [1.959963984540054, 0.025],
    [2.999, 0.001354336534],
    [3, 0.0013498980316301],
    [6, 9.865876450377e-10],
    [10, 7.61985302416047e-24],
    [-1, 0.84134474606854],
  ])('beyond %d is %d', (z, expected) => expect(normalUpperTail(z) / expected).toBeCloseTo(1, 9));
  it('is null without values', () => expect(mannWhitney([], [1])).toBeNull());
});
