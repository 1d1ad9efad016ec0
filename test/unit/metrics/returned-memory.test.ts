/** Whether a card, or a process, holds the same amount of memory after a measurement as before. */
import { describe, expect, it } from 'vitest';
import type { CardMemory, GroundTruth } from '../../../lib/native/ground-truth.js';
import { returnedCheck, withCardAsFound } from '../../../lib/metrics/core/returned-memory.js';

const { signal } = new AbortController();

/** NVML that reports these amounts, one per reading, and the last one repeatedly. */
function truthOf(...usedBytes: (number | null)[]): GroundTruth {
  const left = [...usedBytes];
  const cardMemory = (): Promise<CardMemory | null> => {
    const used = (left.length > 1 ? left.shift() : left[0]) ?? null;
    return Promise.resolve(used === null ? null : { usedBytes: used, freeBytes: 0, totalBytes: 0 });
  };
  return { cardMemory } as unknown as GroundTruth;
}

const lookedAt = async (truth: GroundTruth | null) =>
  (await withCardAsFound({ truth, signal }, () => Promise.resolve('used'), 100)).asFound;

it('passes only where not a byte is missing', async () => {
  expect(await lookedAt(truthOf(4096, 4096))).toMatchObject({ passed: true, detail: '4 KiB in use' });
  expect(await lookedAt(truthOf(4096, 4097))).toMatchObject({
    passed: false,
    detail: '1 B more in use than before',
  });
  expect(await lookedAt(truthOf(4096, 2048))).toMatchObject({
    passed: false,
    detail: '2 KiB less in use than before',
  });
});

it('waits for the memory of a process that has just ended', async () => {
  expect(await lookedAt(truthOf(10, 30, 20, 10))).toMatchObject({ passed: true });
});

it('is not checked without a coordinator', async () => {
  expect((await lookedAt(null)).passed).toBe('not checked');
  expect((await lookedAt(truthOf(null))).passed).toBe('not checked');
  expect((await lookedAt(truthOf(10, null))).passed).toBe('not checked');
});

describe('a process that held memory before', () => {
  const MIB = 2 ** 20;
  it.each([
    [100, 4, true],
    [100, 4.1, false],
    [1_000, 10, true],
    [1_000, 10.1, false],
    // A hoard of an earlier measurement.
    [100_000, 16, true],
    [100_000, 256, false],
  ])('of %d MiB may keep %d MiB more: %s', (before, kept, passed) => {
    const usedBefore = before * MIB;
    const enough = { usedBefore, usedAfter: usedBefore };
    expect(returnedCheck([enough, { usedBefore, usedAfter: usedBefore + kept * MIB }]).passed).toBe(passed);
  });
});
