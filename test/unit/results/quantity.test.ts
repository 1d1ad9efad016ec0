import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { digits, estimateText, fitting, inOneLine, quantity, range } from '../../../lib/results/text/quantity.js';

describe('a quantity', () => {
  it.each([
    [200_978, 'us', '201.0 ms'],
    [29.9996, 'ms', '30.00 ms'],
    [1.318e9, 'bytes', '1.318 GB'],
    [0.0401, 'us', '40.10 ns'],
    [999.96, 'us', '1.000 ms'],
    [-1_500, 'ns', '-1.500 us'],
    [3.5, 's', '3.500 s'],
    [0.4, 'ns', '0.4000 ns'],
    [0, 'us', '0 us'],
    [99.974, '%', '99.97 %'],
    [12_345.6, 'tokens/s', '12346 tokens/s'],
    [Infinity, 'us', '– us'],
    [1, 'boolean', 'yes'],
    [0, 'boolean', 'no'],
    [0.5, 'boolean', '0.5000 boolean'],
  ])('of %d %s is written %s', (value, unit, text) => expect(quantity(value, unit)).toBe(text));

  it('keeps its value within a thousandth', () =>
    fc.assert(
      fc.property(
        fc.double({ min: 1e-3, max: 1e9, noNaN: true }),
        fc.constantFrom('ns', 'us', 'ms', 's'),
        (value, unit) => {
          const { unit: shown, size } = fitting([value], unit);
          const seconds: Record<string, number> = { ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1 };
          const read = Number(digits(value / size)) * (seconds[shown] ?? NaN);
          expect(Math.abs(read / (value * (seconds[unit] ?? NaN)) - 1)).toBeLessThan(1e-3);
        },
      ),
    ));

  it('has only units of its own kind, in which the largest value is at least 1', () => {
    expect(fitting([2, 3_000], 'us')).toEqual({ unit: 'ms', size: 1_000 });
    expect(fitting([2, 3_000], 'TFLOPS')).toEqual({ unit: 'TFLOPS', size: 1 });
    expect(fitting([], 'us')).toEqual({ unit: 'us', size: 1 });
  });
});

describe('an interval', () => {
  it('has one form, and one number of decimals', () => {
    expect(range([1.0719, 1.0986])).toBe('1.072 … 1.099');
    expect(range([-0.00312, 12.344])).toBe('0 … 12.34');
    expect(range([9.9996, 9.9998])).toBe('10.00 … 10.00');
  });

  it('has the unit of its value', () => {
    expect(inOneLine(estimateText({ value: 201_000, ci95: [199_800, 1_202_000] }, 'us'))).toBe(
      '0.201 s (0.200 … 1.202)',
    );
    expect(inOneLine(estimateText({ value: 1.08, ci95: [1.0719, 1.0986] }, null))).toBe('× 1.080 (1.072 … 1.099)');
    expect(inOneLine(estimateText({ value: 5, ci95: null }, 'ms'))).toBe('5.000 ms');
  });

  it('of a difference has signs', () => {
    const text = (value: number, ci95: [number, number]) => inOneLine(estimateText({ value, ci95 }, 'ns', true));
    expect(text(12, [-2, 26])).toBe('+12.00 ns (-2.00 … +26.00)');
    expect(text(-2.96e-16, [-0.0003, 0.0003])).toBe('0 ns (-0.0003000 … +0.0003000)');
  });
});
