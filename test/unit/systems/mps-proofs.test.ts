import { describe, expect, it } from 'vitest';
import { partitionSize } from '../../../lib/systems/kinds/mps/mps-proofs.js';
import { pinnedMemory, threadPercentage } from '../../../lib/systems/proof/mps-limits.js';
import { device } from '../run/fixtures.js';
import { CARD, GIB, probe } from './fixtures.js';

const seen = (multiprocessors: number) => device(0, { multiprocessors });

describe('the thread percentage of MPS', () => {
  it.each([
    // Half of a GPU with 82 SMs is 40; an H200 may round to pairs.
    [40, 82, 50],
    [66, 132, 50],
    [34, 132, 25],
    [4, 40, 10],
  ])('is applied if %i of %i are visible at %i %', (multiprocessors, whole, percent) =>
    expect(threadPercentage(seen(multiprocessors), whole, percent).passed).toBe(true),
  );

  it.each([
    ['ignored', 132, 132, 50],
    ['that of another client', 93, 132, 50],
    ['lower than asked', 33, 132, 50],
  ])('is refused if it was %s', (_, multiprocessors, whole, percent) =>
    expect(threadPercentage(seen(multiprocessors), whole, percent)).toMatchObject({
      passed: false,
      detail: `the tenant has ${multiprocessors} of ${whole}, ${percent} % was set`,
    }),
  );

  it('is undecided if rounding could yield the whole card, or without an inspection', () => {
    expect(threadPercentage(seen(132), 132, 98).passed).toBeNull();
    expect(threadPercentage(undefined, 132, 50).passed).toBeNull();
  });
});

describe('the pinned limit of MPS', () => {
  const free = (bytes: number | null) => probe({ visibleTotalBytes: CARD, visibleFreeBytes: bytes });

  it('is applied if free memory is the limit minus a context', () =>
    // Measured on an H200: 9 969 MiB free under 10 GiB.
    expect(pinnedMemory(free(9969 * 2 ** 20), CARD, 10 * GIB).passed).toBe(true));

  it('is refused if more is free than it allows', () =>
    expect(pinnedMemory(free(138 * GIB), CARD, 10 * GIB)).toMatchObject({
      passed: false,
      detail: expect.stringContaining('the limit is 10240 MiB'),
    }));

  it('is undecided with little free memory, which other processes may use, or without an inspection', () => {
    expect(pinnedMemory(free(2 * GIB), CARD, 10 * GIB).passed).toBeNull();
    expect(pinnedMemory(free(CARD - GIB), CARD, CARD).passed).toBeNull();
    expect(pinnedMemory(null, CARD, 10 * GIB).passed).toBeNull();
    expect(pinnedMemory(free(null), CARD, 10 * GIB).passed).toBeNull();
  });
});

describe('a partition of MPS', () => {
  it.each([
    [32, true],
    [132, false],
    [30, false],
    [0, false],
  ])('of 4 chunks with %i multiprocessors: %s', (multiprocessors, passed) =>
    expect(partitionSize(seen(multiprocessors), 132, 4).passed).toBe(passed),
  );
});
