/** PCIE: the rate of a link, and the sizes of copies. */
import { describe, expect, it } from 'vitest';
import { headlineBytes } from '../../../lib/metrics/pcie/copy-curve.js';
import { ceilingGbs, noFasterThan, unboundedBy, wholeLink } from '../../../lib/metrics/pcie/link.js';

const MIB = 2 ** 20;
const gen5 = { generation: 5, width: 16, maxGeneration: 5, maxWidth: 16, underLoad: true };
const none = { ...gen5, generation: null, width: null, maxGeneration: null, maxWidth: null };

describe('a link', () => {
  it.each([
    [1, 16, 4],
    [3, 16, 15.76],
    [4, 8, 15.752],
    [5, 16, 63.008],
    [6, 16, 121.008],
  ])('of generation %i with %i lanes carries %d GB/s', (generation, width, gbs) => {
    expect(ceilingGbs({ generation, width })).toBeCloseTo(gbs, 9);
  });

  it('that NVML does not report, or of a generation that is not listed, bounds nothing', () => {
    expect(ceilingGbs(none)).toBeNull();
    expect(unboundedBy(none)).toMatch(/no PCIe link/);
    expect(ceilingGbs({ generation: 9, width: 16 })).toBeNull();
    expect(unboundedBy({ ...gen5, generation: 9 })).toMatch(/lane of PCIe generation 9 is not known/);
    expect(unboundedBy(gen5)).toBeNull();
    expect(noFasterThan(none, [{ name: 'a', gbs: 1e6 }]).passed).toBe('not checked');
  });

  it('carries no more than its ceiling, whichever row says so', () => {
    const rows = (gbs: number) => [
      { name: 'slow', gbs: 20 },
      { name: 'fast', gbs },
    ];
    expect(noFasterThan(gen5, rows(66)).passed).toBe(true);
    expect(noFasterThan(gen5, rows(66.5))).toMatchObject({
      passed: false,
      detail: 'fast: 66.5 GB/s, but PCIe generation 5, 16 lanes carries 63.0 GB/s',
    });
  });

  it('that lost lanes is told of', () => {
    expect(wholeLink(gen5).passed).toBe(true);
    expect(wholeLink({ ...gen5, width: 8, underLoad: false })).toMatchObject({
      passed: false,
      detail: '8 of 16 lanes, but the copies were over when NVML answered',
    });
    expect(wholeLink(none).passed).toBe('not checked');
  });
});

it('copies a power of two, at most 256 MiB and a quarter of the memory', () => {
  expect([140 * 1024, 1024, 1023, 10].map((mib) => headlineBytes(mib * MIB) / MIB)).toEqual([256, 256, 128, 2]);
});
