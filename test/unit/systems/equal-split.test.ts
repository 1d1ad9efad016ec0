/** Limits of clients of MPS that no variable states: what is concluded of what a process sees. */
import { describe, expect, it } from 'vitest';
import { readBack } from '../../../lib/systems/kinds/pod/equal-split.js';
import { CARD, GIB, gpu, probe } from './fixtures.js';

const WHOLE = 132;
const card = { ...gpu, multiprocessors: WHOLE };
/** Contexts took 240 to 515 MiB of their own limit on an H100 and an H200. */
const CONTEXT = 0.5 * GIB;

const seen = (multiprocessors: number, freeBytes: number | null, cardFreeBytes: number | null = CARD - GIB) =>
  readBack({ multiprocessors, probe: probe({ visibleFreeBytes: freeBytes }), cardFreeBytes }, card);

describe('limits that a daemon of MPS gives by its defaults', () => {
  it.each([
    [2, 66, 50],
    [3, 42, 33],
    [4, 32, 25],
    [4, 33, 25],
    [7, 18, 14],
    [10, 13, 10],
  ])('are equal shares of %i where %i of 132 multiprocessors and the memory of one are seen', (count, sms, percent) => {
    const memoryBytes = Math.floor(CARD / count / 2 ** 20) * 2 ** 20;
    expect(seen(sms, memoryBytes - CONTEXT)).toMatchObject({
      multiprocessors: sms,
      smPercent: percent,
      memoryBytes,
      text: expect.stringContaining(`1 of ${count} equal shares, ${percent} % of the threads`),
      doubt: null,
    });
  });

  it('are none where the process sees the whole card', () =>
    expect(seen(WHOLE, CARD - 2 * GIB)).toMatchObject({
      smPercent: null,
      memoryBytes: null,
      text: 'none',
      doubt: null,
    }));

  it.each<[string, number, number | null, number | null, RegExp]>([
    ['the multiprocessors are of other shares than the memory', 33, CARD / 2 - CONTEXT, CARD, /\(1 of 4\).*\(1 of 2\)/],
    ['the memory is of no equal share', 33, 10 * GIB, CARD, /\(1 of 4\).*\(1 of 13 to 14\)/],
    ['the memory is not limited', 33, CARD - 2 * GIB, CARD, /\(1 of 4\) and the card's free memory,/],
    ['others use what the card has', 33, CARD / 4 - CONTEXT, CARD / 4, /\(1 of 4\) and the card's free memory,/],
    ['others leave the card less than a share', 33, 20 * GIB, 30 * GIB, /of the card's 30720 MiB/],
    ['NVML does not tell what the card has', 33, CARD / 4 - CONTEXT, null, /beside which NVML tells nothing/],
    ['no free memory is shown', 33, null, CARD, /no free memory, which the driver does not tell/],
    ['memory fits several numbers', 7, 7452 * 2 ** 20, CARD, /\(1 of 15 to 25\).*\(1 of 17 to 19\)/],
  ])('are only what multiprocessors show where %s', (_, sms, free, cardFree, doubt) => {
    const read = seen(sms, free, cardFree);
    expect(read).toMatchObject({ smPercent: Math.round((100 * sms) / WHOLE), memoryBytes: null });
    expect(read.doubt).toMatch(doubt);
  });

  it('adopt no memory limit where all multiprocessors are seen, whatever number of shares the memory fits', () => {
    const read = seen(WHOLE, CARD / 4 - CONTEXT);
    expect(read).toMatchObject({ smPercent: null, memoryBytes: null, text: 'none' });
    expect(read.doubt).toMatch(/132 of 132 multiprocessors \(no equal share\) and .* \(1 of 4\)/);
  });
});
