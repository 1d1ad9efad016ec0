import { describe, expect, it } from 'vitest';
import { truthBy } from '../../../lib/native/ground-truth.js';
import { gpuState } from '../run/fixtures.js';

const GIB = 2 ** 30;
const unread = { xids: () => Promise.resolve({ events: [] }), utilization: () => Promise.resolve(null) };
const truthOf = (state: ReturnType<typeof gpuState> | null) =>
  truthBy({ state: () => Promise.resolve(state), ...unread });

describe('the ground truth', () => {
  const processes = [
    { pid: 10, usedBytes: 3 * GIB, mpsClient: false },
    { pid: 11, usedBytes: 0, mpsClient: false },
    { pid: 12, usedBytes: null, mpsClient: false },
  ];
  const truth = truthOf(gpuState({ usedBytes: 4 * GIB, freeBytes: 12 * GIB, totalBytes: 16 * GIB, processes }));

  it('has the memory of each process', async () => {
    expect(await truth.processMemory(10)).toBe(3 * GIB);
    expect(await truth.processMemory(11)).toBe(0);
  });

  it('does not report 0 for a process that is not listed', async () => {
    expect(await truth.processMemory(12)).toBeNull();
    expect(await truth.processMemory(13)).toBeNull();
    expect(await truthOf(gpuState({ processes: null })).processMemory(10)).toBeNull();
  });

  it("has the card's total use, or null", async () => {
    expect(await truth.cardMemory()).toEqual({ usedBytes: 4 * GIB, freeBytes: 12 * GIB, totalBytes: 16 * GIB });
    expect(await truthOf(gpuState({ freeBytes: null })).cardMemory()).toBeNull();
  });

  it("has the multiprocessors' clock, or null", async () => {
    expect(await truthOf(gpuState({ smClockMhz: 1980 })).smClockMhz()).toBe(1980);
    expect(await truthOf(null).smClockMhz()).toBeNull();
  });

  it('is null without NVML', async () => {
    expect(await truthOf(null).processMemory(10)).toBeNull();
    expect(await truthOf(null).cardMemory()).toBeNull();
  });

  it('is read again each time', async () => {
    let used = 0;
    const growing = truthBy({
      state: () => Promise.resolve(gpuState({ processes: [{ pid: 10, usedBytes: ++used, mpsClient: false }] })),
      ...unread,
    });
    expect([await growing.processMemory(10), await growing.processMemory(10)]).toEqual([1, 2]);
  });

  it("has the card's errors since a time", async () => {
    const event = { atNs: 70, xid: 31 };
    const watched = truthBy({
      ...unread,
      state: () => Promise.resolve(null),
      xids: (sinceNs) => Promise.resolve({ events: event.atNs >= sinceNs ? [event] : [] }),
    });
    expect(await watched.xids(50)).toEqual({ events: [event] });
    expect(await watched.xids(71)).toEqual({ events: [] });
  });
});
