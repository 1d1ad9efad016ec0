import { describe, expect, it } from 'vitest';
import { scaled, scaledSamples } from '../../../lib/metrics/core/units.js';
import { formatBytes } from '../../../lib/results/text/format-bytes.js';

describe('units', () => {
  it('scales value and interval together', () => {
    expect(scaled({ value: 1500, ci95: [1000, 2500] }, 1000)).toEqual({ value: 1.5, ci95: [1, 2.5] });
    expect(scaled({ value: 1500, ci95: null }, 1000)).toEqual({ value: 1.5, ci95: null });
  });

  it('scales samples into a new array', () => {
    const samples = Float64Array.of(1000, -500);
    expect([...scaledSamples(samples, 1000)]).toEqual([1, -0.5]);
    expect([...samples]).toEqual([1000, -500]);
  });

  it.each([
    [0, '0 B'],
    [1023, '1023 B'],
    [1024, '1 KiB'],
    [65_536, '64 KiB'],
    [2_097_152, '2 MiB'],
    [1_572_864, '1.5 MiB'],
    [1_073_741_824, '1 GiB'],
    [150_755_868_672, '140.4 GiB'],
  ])('%i bytes are %s', (bytes, text) => expect(formatBytes(bytes)).toBe(text));
});
