import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { barsPanel } from '../../../lib/report/charts/bars.js';
import { boxesPanel } from '../../../lib/report/charts/boxes.js';
import { isDrawable } from '../../../lib/report/charts/axes.js';
import { type Panel, stacked } from '../../../lib/report/charts/panel.js';
import { rowsOf } from '../../../lib/results/view.js';
import { marksOf, textsOf, valuesOf } from './charts-marks.js';

const labels = (panelOf: (row: ReturnType<typeof rowsOf>[number]) => Panel | null, values: number[]): string[] => {
  const [row = expect.fail('no metric')] = rowsOf(valuesOf({ a: values }));
  const panel = panelOf(row);
  if (!panel) return [];
  return textsOf(marksOf(stacked([panel], ''))).flatMap(({ text, attributes }) =>
    attributes['text-anchor'] === 'middle' ? [text] : [],
  );
};

describe('an axis', () => {
  it.each([
    [[191_909], ['0', '50000', '100000', '150000', '200000']],
    [[9e9], ['0', '3e+9', '6e+9', '9e+9']],
    [[-3], ['-3', '-2', '-1', '0']],
  ])('of bars of %j begins at zero, with round labels', (values, expected) =>
    expect(labels(barsPanel, values)).toEqual(expected),
  );

  it('of boxes has round labels around its values', () =>
    expect(labels(boxesPanel, [0.031, 0.048])).toEqual(['0.03', '0.035', '0.04', '0.045', '0.05']));

  it('has a few labels, each a number and no two the same, for any values', () =>
    fc.assert(
      fc.property(
        fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }).filter(isDrawable), {
          minLength: 2,
          maxLength: 9,
        }),
        (values) => {
          for (const panelOf of [barsPanel, boxesPanel]) {
            const texts = labels(panelOf, values);
            expect(texts.length).toBeLessThan(12);
            expect(new Set(texts).size).toBe(texts.length);
            for (const text of texts) expect(Number(text)).not.toBeNaN();
          }
        },
      ),
    ));

  it('detects values that cannot be drawn', () =>
    expect([1e300, -1e-300, null, undefined, Number.NaN, Infinity].filter(isDrawable)).toEqual([]));
});
