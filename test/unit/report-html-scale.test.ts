import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { factors, isDrawable, linear } from '../../lib/report/charts/scale.js';

const labels = (...values: Parameters<typeof linear>) => {
  const { min, max, interval, format } = linear(...values);
  return Array.from({ length: Math.round((max - min) / interval) + 1 }, (_, i) => format(min + i * interval));
};

describe('an axis', () => {
  it.each([
    [[3, 9.5], {}, ['2', '4', '6', '8', '10']],
    [[0.031, 0.048], {}, ['0.030', '0.035', '0.040', '0.045', '0.050']],
    [[-3, 7], {}, ['-5', '0', '5', '10']],
    [[191_909], { zero: true }, ['0', '50000', '100000', '150000', '200000']],
    [[2e9, 9e9], {}, ['2e+9', '4e+9', '6e+9', '8e+9', '1.0e+10']],
    [[], {}, ['0.0', '0.5', '1.0']],
    [[0, 0], {}, ['0.0', '0.5', '1.0']],
  ])('of %j %j has round labels', (values, options, expected) => {
    const seen = labels(values, options);
    if (values.some((value) => value !== 0)) expect(seen).toEqual(expected);
    else expect(seen.at(-1)).toMatch(/^1(\.0)?$/);
  });

  it('of one value, or of nearly equal values, has space around them', () => {
    for (const values of [[5], [5, 5 * (1 + 1e-15)], [-7, -7]]) {
      const { min, max, place } = linear(values);
      expect(min).toBeLessThan(place(values[0] as number));
      expect(max).toBeGreaterThan(place(values[0] as number));
    }
  });

  it('covers all its values in few steps, with as many labels', () =>
    fc.assert(
      fc.property(
        fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }).filter(isDrawable), {
          minLength: 1,
          maxLength: 9,
        }),
        fc.boolean(),
        (values, zero) => {
          const { min, max, interval, place, format } = linear(values, { zero });
          for (const value of values) {
            expect(place(value)).toBeGreaterThanOrEqual(min - 1e-5 * interval);
            expect(place(value)).toBeLessThanOrEqual(max + 1e-5 * interval);
          }
          const steps = (max - min) / interval;
          expect(steps).toBeGreaterThanOrEqual(0.999);
          expect(steps).toBeLessThan(8);
          const texts = Array.from({ length: Math.round(steps) + 1 }, (_, i) => format(min + i * interval));
          expect(new Set(texts).size).toBe(texts.length);
        },
      ),
    ));

  it('detects values that cannot be drawn', () =>
    expect([1e300, -1e-300, null, undefined, Number.NaN, Infinity].filter(isDrawable)).toEqual([]));
});

describe('an axis of ratios', () => {
  it.each([
    [0.9, 1.12, [0.9, 0.95, 1, 1.05, 1.1]],
    [0.58, 2.95, [0.7, 1, 1.5, 2]],
    [0.5, 16, [0.5, 1, 2, 5, 10]],
    [1e-9, 1e9, [1e-9, 1e-6, 1e-3, 1, 1e3, 1e6, 1e9]],
  ])('from %d to %d has round factors', (low, high, expected) => expect(factors(low, high)).toEqual(expected));
});
