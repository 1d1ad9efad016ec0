import { describe, expect, it } from 'vitest';
import { blockMedians } from '../../../lib/stats/blocks.js';
import { upTo } from './fixtures.js';

describe('medians of blocks', () => {
  it.each([
    [0, []],
    [3, [1, 2, 3]],
    [20, upTo(20)],
    [40, upTo(20).map((block) => 2 * block - 0.5)],
  ])('of %i samples', (n, medians) => expect(blockMedians(upTo(n))).toEqual(medians));

  it('use every sample once, in blocks whose lengths differ by one at most', () => {
    // 1 … 50 in 20 blocks of 2 or 3: consecutive medians, with no gap longer than a block.
    const medians = blockMedians(upTo(50));
    expect(medians).toHaveLength(20);
    expect([medians[0], medians[1], medians[19]]).toEqual([1.5, 4, 49]);
    for (const [i, value] of medians.slice(1).entries()) expect([2, 2.5, 3]).toContain(value - (medians[i] as number));
  });

  it('keep the order of measurement: a step keeps its position', () =>
    expect(blockMedians([...Array(500).fill(1), ...Array(500).fill(2)])).toEqual([
      ...Array(10).fill(1),
      ...Array(10).fill(2),
    ]));
});
