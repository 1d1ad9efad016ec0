/** Layers that do the work of many calls in one, and drivers whose calls are slow now and then. */
import { describe, expect, it } from 'vitest';
import { bareOf, bulkCheck, grownCheck, invalidIfHidden } from '../../../lib/metrics/overhead/bulk.js';

const US = 1_000;
const MIB = 1024 ** 2;
/** `count` calls; every `each`-th takes `slowNs`. */
const calls = (count: number, fastNs: number, each: number, slowNs: number) =>
  Float64Array.from({ length: count }, (_, i) => (i % each === each - 1 ? slowNs : fastNs));

describe('calls that are served in bulk', () => {
  it.each([
    // Issue 28: 0.03 us published, mean 40.
    ['each block taken from the driver', calls(250, 30, 40, 40 * 40 * US)],
    ['one large block for many, at a thirtieth of the price', calls(250, 30, 40, 40 * US)],
    ['a single burst', calls(100, 30, 64, 64 * 40 * US)],
  ])('have no value: %s', (_, samples) => {
    const check = bulkCheck(samples, 40 * US);
    expect(check.passed).toBe(false);
    expect(invalidIfHidden([check])).toMatchObject({
      status: 'invalid',
      reason: expect.stringMatching(
        /^most calls are answered without the driver, and a few pay for all: median 0.0300 us, mean .* the driver alone 40.0 us$/,
      ),
    });
  });

  it.each([
    // compared-hami.json, recorded on an H200: median 45.1, mean 1.89 times that, largest 2 017 us.
    ['a driver with rare stalls', calls(100, 45 * US, 50, 2_017 * US)],
    // The driver serves small blocks out of granules of 2 MiB, also natively.
    ['a driver that refills granules', calls(256, 1.2 * US, 32, 40 * US)],
    ['a layer that adds to each call', calls(100, 60 * US, 100, 90 * US)],
  ])('are told from %s', (_, samples) => {
    const bare = _.includes('granules') ? 1.2 * US : 42 * US;
    expect(bulkCheck(samples, bare).passed).toBe(true);
  });

  it('are told from a cache that never pays, but for a blip', () => {
    expect(bulkCheck(calls(20, 50, 20, 2 * US), 7 * US).passed).toBe(true);
  });

  it('are not judged without the driver’s own time', () => {
    expect(bulkCheck(calls(100, 30, 40, 40 * US), bareOf([{ unsupported: 'no room' }])).passed).toBe('not checked');
    expect(bareOf([{ bareNs: 5 }])).toBe(5);
  });
});

describe('the memory of allocations', () => {
  const live = { bytes: 2 * MIB, live: 32, usedBefore: 500 * MIB };
  it.each([
    [64 * MIB, true],
    [62 * MIB, true],
    [2 * MIB, false],
    [-8 * MIB, false],
  ])('grows by %i bytes: %s', (grown, passed) => {
    const check = grownCheck([{ ...live, usedLive: live.usedBefore + grown }]);
    expect(check.passed).toBe(passed);
  });

  it('is not judged where NVML says nothing, or the blocks are few', () => {
    expect(grownCheck([{ ...live, usedBefore: null, usedLive: null }]).passed).toBe('not checked');
    expect(grownCheck([{ ...live, live: 2, usedLive: live.usedBefore }]).passed).toBe('not checked');
  });

  it('is named in the reason', () => {
    expect(invalidIfHidden([grownCheck([{ ...live, usedLive: live.usedBefore }])])?.reason).toBe(
      'allocations are answered from memory that was taken before: the memory of this process grew by 0 B for 64 MiB',
    );
  });
});
