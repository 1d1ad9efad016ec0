import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { evenly } from '../../lib/report/charts/evenly.js';
import { fitted, fittedNames, widest, widthOf } from '../../lib/report/charts/text.js';

describe('a name in a drawing', () => {
  it('is complete if it fits, else cut in the middle', () => {
    expect(fitted('hami-core', widthOf('hami-core'))).toBe('hami-core');
    const cut = fitted('hami-core-with-a-long-name-sm50', 100);
    expect(cut).toMatch(/^hami.*….*sm50$/);
    expect(widthOf(cut)).toBeLessThanOrEqual(100);
  });

  it('has a number if names differ only in the part that is cut', () => {
    const long = (middle: string) => `${'a'.repeat(40)}${middle}${'z'.repeat(40)}`;
    expect(fittedNames([long('1'), 'short', long('2')], 100)).toEqual([
      expect.stringMatching(/^1: aa+…zz+$/),
      'short',
      expect.stringMatching(/^3: aa+…zz+$/),
    ]);
  });

  it('stays distinct from every other, and within its width', () =>
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.string({ unit: fc.constantFrom('a', 'b', 'W', '-'), maxLength: 60 }), { maxLength: 9 }),
        (names) => {
          const shown = fittedNames(names, 110);
          expect(new Set(shown).size).toBe(names.length);
          expect(widest(shown)).toBeLessThanOrEqual(110);
        },
      ),
    ));

  // Advance widths of DejaVu Sans at 12 pixels.
  it.each([
    ['hami-core', 58.2],
    ['mps (unverified)', 97],
    ['WWWW', 47.5],
    ['0123456789', 76.4],
    ['1.235e+8', 53.8],
  ])('has at least the width of a wide font: %s', (text, width) => {
    expect(widthOf(text)).toBeGreaterThanOrEqual(width);
    expect(widthOf(text)).toBeLessThan(1.35 * width);
  });
});

it.each([
  [3, [0, 5, 9]],
  [1, [0]],
  [10, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]],
  [40, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]],
])('%d of ten are spread over all of them', (most, expected) =>
  expect(evenly([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], most)).toEqual(expected),
);
