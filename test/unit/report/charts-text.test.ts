import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { evenly } from '../../../lib/report/charts/evenly.js';
import { asDrawn, widest, widthOf, wrapped, wrappedNames } from '../../../lib/report/charts/text.js';

describe('a name in a drawing', () => {
  it('is wrapped where it has a place for a break, and complete', () => {
    expect(wrapped('hami-core', widthOf('hami-core'))).toEqual(['hami-core']);
    expect(wrapped('hami-core-with-a-long-name-sm50', 100)).toEqual(['hami-core-', 'with-a-long-', 'name-sm50']);
    expect(wrapped('W'.repeat(10), 50).join('')).toBe('W'.repeat(10));
    expect(wrapped('', 50)).toEqual(['']);
  });

  it('is never cut, and stays within its width', () =>
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', 'b', 'W', '-', '/', '…'), minLength: 1, maxLength: 120 }),
        fc.integer({ min: 20, max: 200 }),
        (name, width) => {
          const lines = wrapped(name, width);
          expect(lines.join('')).toBe(name);
          expect(widest(lines)).toBeLessThanOrEqual(width);
        },
      ),
    ));

  it('has no line that is a key of every object', () => {
    const lines = asDrawn(wrapped('__proto__constructor', 70).join('\n')).split('\n');
    expect(lines.filter((line) => line in Object.prototype)).toEqual([]);
    expect(asDrawn('a\n__proto__')).not.toBe('a\n__proto__');
    expect(asDrawn('a\nb')).toBe('a\nb');
  });

  it('makes all rows as high as the one with most lines', () => {
    const { texts, most, width } = wrappedNames(['a', 'b'.repeat(40)], 100);
    expect(texts[0]).toBe('a');
    expect(most).toBe(4);
    expect(width).toBeLessThanOrEqual(100);
  });

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
