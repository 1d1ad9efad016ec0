/** Layers that do the work of many calls in one, and drivers whose calls are slow now and then. */
import { describe, expect, it } from 'vitest';
import { BenchError } from '../../../lib/errors/bench-error.js';
import { bareOf, bulkCheck, grownCheck, invalidIfHidden, pastLayer } from '../../../lib/metrics/served/bulk.js';
import { servedAllocations, singly } from '../../../lib/metrics/served/served-blocks.js';

const US = 1_000;
const MIB = 1024 ** 2;
/** `count` calls; every `each`-th takes `slowNs`. */
const calls = (count: number, fastNs: number, each: number, slowNs: number) =>
  Float64Array.from({ length: count }, (_, i) => (i % each === each - 1 ? slowNs : fastNs));
const served = (samplesNs: Float64Array, bareNs: number | null, loopNs?: Float64Array) =>
  bulkCheck([{ call: 'cuMemAlloc', samplesNs, bareNs, ...(loopNs && { loopNs }) }]);

describe('calls that are served in bulk', () => {
  it.each([
    // Issue 28: 0.03 us published, mean 40.
    ['each block taken from the driver', calls(250, 30, 40, 40 * 40 * US)],
    ['one large block for many, at a thirtieth of the price', calls(250, 30, 40, 40 * US)],
    ['a single burst', calls(100, 30, 64, 64 * 40 * US)],
  ])('have no value: %s', (_, samples) => {
    const check = served(samples, 40 * US);
    expect(check.passed).toBe(false);
    expect(invalidIfHidden([check])).toMatchObject({
      status: 'invalid',
      reason: expect.stringMatching(
        /^most calls are answered without the driver, and a few pay for all: cuMemAlloc: median 0.0300 us, mean .* the driver alone 40.0 us$/,
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
    expect(served(samples, bare).passed).toBe(true);
  });

  it('are told from a cache whose calls are interrupted now and then', () => {
    expect(served(calls(500, 50, 50, 2 * US), 7 * US).passed).toBe(true);
  });

  it('are told from a cache that never pays, but for a blip', () => {
    expect(served(calls(20, 50, 20, 2 * US), 7 * US).passed).toBe(true);
  });

  it.each([
    // An H200 without a layer: cuMemCreate of 4 GiB takes 0.1 ms where the driver kept memory, else 0.7 to 2.
    ['a driver that keeps some large blocks', [120, 126, 700, 110, 2_400, 720], true],
    ['a layer that has them ahead', [1, 1, 1, 1, 1, 4_000], false],
  ])('are told by single allocations: %s', (_, us, passed) => {
    const allocNs = us.map((each) => each * US);
    const bare = singly({ allocNs: [749 * US, 131 * US, 760 * US], createNs: [] });
    const check = bulkCheck(servedAllocations({ call: 'cuMemCreate', blocks: [{ allocNs, createNs: allocNs }], bare }));
    expect(check.passed).toBe(passed);
  });

  it('are not judged without the driver’s own time', () => {
    const unknown = bareOf([{ name: 'cuMemAlloc_v2', unsupported: 'no room' }], 'cuMemAlloc_v2');
    expect(served(calls(100, 30, 40, 40 * US), unknown).passed).toBe('not checked');
    const pairs = [
      { name: 'cuMemAlloc_v2', bareNs: 5 },
      { name: 'cuMemFree_v2', bareNs: 4 },
    ];
    expect(bareOf(pairs, 'cuMemFree_v2')).toBe(4);
  });

  it('are found where another call of the loop pays', () => {
    const samples = calls(200, 30, 200, 60);
    // Each free takes 30 us; every fortieth takes forty blocks from the driver too.
    const loopNs = calls(200, 30 * US, 40, 30 * US + 40 * 40 * US);
    expect(served(samples, 40 * US).passed).toBe(true);
    expect(served(samples, 40 * US, loopNs).passed).toBe(false);
    expect(served(samples, 40 * US, calls(200, 30 * US, 40, 33 * US)).passed).toBe(true);
  });

  it('are found in one of several rows, which is named', () => {
    const check = bulkCheck([
      { call: 'cuMemAlloc', samplesNs: calls(100, 41 * US, 50, 2_000 * US), bareNs: 40 * US },
      { call: 'cuMemCreate', samplesNs: calls(100, 30, 20, 20 * 40 * US), bareNs: 40 * US },
      { call: 'cuMemAllocAsync', samplesNs: calls(100, 30, 20, 20 * US), bareNs: null },
    ]);
    expect(check).toMatchObject({ passed: false, detail: expect.stringMatching(/^cuMemCreate: median 0.0300 us/) });
  });

  it.each([0, 5, 40, 1_000, 50_000])('are told from a delay of %i us in a noisy call', (delayUs) => {
    for (const spread of [0.3, 1, 20]) {
      const samples = Float64Array.from(
        { length: 60 },
        (_, i) => (delayUs + 40 * (1 + spread * (i % 7 === 6 ? 1 : 0))) * US,
      );
      samples[31] = 90_000 * US;
      expect(served(samples, 40 * US).passed).toBe(true);
    }
  });
});

describe('the memory of allocations', () => {
  const live = { call: 'cuMemAlloc', bytes: 64 * MIB, usedBefore: 500 * MIB };
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
    expect(grownCheck([{ ...live, bytes: 4 * MIB, usedLive: live.usedBefore }]).passed).toBe('not checked');
  });

  it('is named in the reason', () => {
    expect(invalidIfHidden([grownCheck([{ ...live, usedLive: live.usedBefore }])])?.reason).toBe(
      'allocations are answered from memory that was taken before: cuMemAlloc: the memory of this process grew by 0 B for 64 MiB',
    );
  });

  it.each([
    ['took as much', 64, 0, false],
    ['took half of it, and so did the layer', 32, 16, true],
    ['answered from its own pool', 0, 0, 'not checked'],
  ] as const)('is compared with what the driver alone took: it %s', (_, alone, grown, passed) => {
    const usedLive = live.usedBefore + grown * MIB;
    const driver = { usedBefore: 100 * MIB, usedLive: (100 + alone) * MIB };
    expect(grownCheck([{ ...live, usedLive, alone: driver }]).passed).toBe(passed);
  });

  it('is not judged where the driver has pools and nobody knows what it takes alone', () => {
    expect(grownCheck([{ ...live, usedLive: live.usedBefore, alone: null }]).passed).toBe('not checked');
  });
});

it('names every check that failed', () => {
  const rows = [{ call: 'cuMemAlloc', samplesNs: calls(250, 30, 40, 40 * 40 * US), bareNs: 40 * US }];
  const memory = { call: 'cuMemAlloc', bytes: 64 * MIB, usedBefore: 0, usedLive: 0 };
  expect(invalidIfHidden([bulkCheck(rows), grownCheck([memory])])?.reason).toMatch(
    /^most calls are answered .* us; allocations are answered from memory .*$/,
  );
  expect(invalidIfHidden([bulkCheck([]), grownCheck([])])).toBeUndefined();
});

describe('a measurement past the layer', () => {
  it('is left out where the driver’s functions are missing, and nowhere else', async () => {
    const missing = () => Promise.reject(new BenchError('FUNCTION_MISSING', 'cuMemFree_v2 was overwritten.'));
    expect(await pastLayer(missing)).toBeNull();
    await expect(pastLayer(() => Promise.reject(new Error('a mistake')))).rejects.toThrow('a mistake');
    expect(await pastLayer(() => Promise.resolve(7))).toBe(7);
  });
});
