import { describe, expect, it } from 'vitest';
import type { Effect } from '../../../lib/results/document.js';
import { forestOf } from '../../../lib/report/charts/forest.js';
import { widthOf } from '../../../lib/report/charts/text.js';
import { verdictShapes } from '../../../lib/report/charts/verdict-marks.js';
import { forestFigure } from '../../../lib/report/html/figures/figures.js';
import { verdictBadge } from '../../../lib/report/html/verdict.js';
import type { View } from '../../../lib/results/view.js';
import { effectsOf, type Mark, marksOf, textsOf, tipOf, xsOf } from './charts-marks.js';

const marksIn = (view: View): Mark[] => forestOf(view).drawings.flatMap(({ drawing }) => marksOf(drawing));

/** Maps a ratio to its pixel, by the labels of the axis. */
function placesOf(marks: readonly Mark[]): (ratio: number) => number {
  const labels = textsOf(marks).filter(({ attributes }) => attributes['text-anchor'] === 'middle');
  const [first, last] = [labels[0], labels.at(-1)].map((label) => ({
    at: label?.points[0]?.[0] ?? Number.NaN,
    log: Math.log(Number(label?.text.replace('× ', ''))),
  }));
  if (!first || !last) throw new Error('Expected labels.');
  return (ratio) => first.at + ((Math.log(ratio) - first.log) * (last.at - first.at)) / (last.log - first.log);
}

const ofRow = (marks: readonly Mark[], row: number): Mark[] =>
  marks.filter((mark) => tipOf(mark).startsWith(`X-${String(row + 1).padStart(3, '0')} `));
const strokes = (marks: readonly Mark[]): Mark[] => marks.filter(({ name }) => name === 'polyline');
const shapes = (marks: readonly Mark[]): Mark[] => marks.filter(({ name }) => name === 'path');
const centre = (values: readonly number[]): number => (Math.min(...values) + Math.max(...values)) / 2;

const FARTHEST = 16;
/** Heads of arrows: both barbs are behind the tip. */
const heads = (marks: readonly Mark[], way: 1 | -1): [number, number][][] =>
  shapes(marks)
    .filter(({ attributes }) => attributes.fill === 'none')
    .flatMap(({ points }) => [points.slice(0, 3), points.slice(3)])
    .filter(
      ([a, tip, b]) =>
        a !== undefined &&
        tip !== undefined &&
        b !== undefined &&
        way * (tip[0] - a[0]) > 0 &&
        way * (tip[0] - b[0]) > 0,
    );

describe('a ratio on the axis', () => {
  const marks = marksIn(
    effectsOf([
      { ratio: 2, ratioCi95: [1.5, 3] },
      { ratio: 0.5, ratioCi95: [0.4, 0.6] },
    ]),
  );
  const at = placesOf(marks);

  it.each([
    [0, 2, [1.5, 3]],
    [1, 0.5, [0.4, 0.6]],
  ] as const)('of row %d is where it is, between the ends of its interval', (row, ratio, [low, high]) => {
    const [whisker, ...others] = strokes(ofRow(marks, row));
    const [mark] = shapes(ofRow(marks, row));
    expect(others).toEqual([]);
    expect(centre(xsOf(mark as Mark))).toBeCloseTo(at(ratio), -0.2);
    expect(Math.min(...xsOf(whisker as Mark))).toBeCloseTo(at(low), -0.2);
    expect(Math.max(...xsOf(whisker as Mark))).toBeCloseTo(at(high), -0.2);
  });

  it('lies in front of the line at 1', () => {
    const isLineAtOne = ({ attributes }: Mark) => attributes.stroke === 'var(--text)';
    const line = marks.findIndex(isLineAtOne);
    expect(xsOf(marks[line] as Mark)[0]).toBeCloseTo(at(1), -0.2);
    expect(marks.findIndex((mark) => tipOf(mark) !== '')).toBeGreaterThan(line);
  });

  it('needs no arrow', () => {
    expect(forestOf(effectsOf([{ ratio: FARTHEST, ratioCi95: [1 / FARTHEST, FARTHEST] }])).goesBeyond).toBe(false);
    expect(forestFigure(effectsOf([{ ratio: 2, ratioCi95: [1.5, 3] }]))?.toString()).not.toContain('arrow');
  });
});

describe('beyond the axis', () => {
  it.each([
    [0.001, [0.0009, 0.0011]],
    [17, [16.5, 17.5]],
    [40, [2, 800]],
    [1235, [1100, 1400]],
    [1235, null],
    [1 / 17, null],
  ] as const)('a ratio of %d %j is a double arrow and no mark', (ratio, ratioCi95) => {
    const view = effectsOf([
      { ratio: FARTHEST, ratioCi95: [1 / FARTHEST, FARTHEST] },
      { ratio, ratioCi95: ratioCi95 && [...ratioCi95] },
    ]);
    const marks = marksIn(view);
    const at = placesOf(marks);
    const way = ratio > 1 ? 1 : -1;
    const end = at(ratio > 1 ? FARTHEST : 1 / FARTHEST);
    const own = ofRow(marks, 1);
    expect(shapes(own).filter(({ attributes }) => attributes.fill !== 'none')).toEqual([]);
    expect(heads(own, way)).toHaveLength(2);
    for (const [x] of heads(own, way).flat()) expect(way * (x - end)).toBeGreaterThan(0);
    expect(forestOf(view).goesBeyond).toBe(true);
    expect(forestFigure(view)?.toString()).toContain('An arrow marks an interval that continues beyond the axis');
  });

  it('an interval is one arrow, which does not cover the mark at the end of the axis', () => {
    const marks = marksIn(effectsOf([{ ratio: FARTHEST, ratioCi95: [0.01, 20], verdict: 'inconclusive' }]));
    const at = placesOf(marks);
    const [mark] = shapes(ofRow(marks, 0));
    expect(centre(xsOf(mark as Mark))).toBeCloseTo(at(FARTHEST), -0.2);
    const [[right = expect.fail('no arrow')], [left = expect.fail('no arrow')]] = [heads(marks, 1), heads(marks, -1)];
    expect([heads(marks, 1).length, heads(marks, -1).length]).toEqual([1, 1]);
    expect(Math.min(...right.map(([x]) => x))).toBeGreaterThan(Math.max(...xsOf(mark as Mark)));
    expect(Math.max(...left.map(([x]) => x))).toBeLessThan(at(1 / FARTHEST));
  });

  it('nothing is drawn outside the space between the names and the numbers', () => {
    const marks = marksIn(effectsOf([{ ratio: 1e-9, ratioCi95: [1e-12, 1e9] }]));
    const texts = textsOf(marks).filter(({ attributes }) => attributes['text-anchor'] !== 'middle');
    const system = texts.find(({ text }) => text.endsWith(', other'))?.points[0]?.[0] ?? Number.NaN;
    const numbers = texts.find(({ text }) => text.startsWith('×'))?.points[0]?.[0] ?? Number.NaN;
    for (const x of ofRow(marks, 0).flatMap(xsOf)) {
      expect(x).toBeGreaterThan(system);
      expect(x).toBeLessThan(numbers);
    }
  });
});

describe('a verdict', () => {
  const verdicts: Effect['verdict'][] = ['slower', 'faster', 'same', 'inconclusive', 'invalid'];
  const marks = marksIn(effectsOf(verdicts.map((verdict) => ({ verdict, ratio: 1.5, ratioCi95: [1.4, 1.6] }))));
  const shapeOf = (verdict: Effect['verdict']) => shapes(ofRow(marks, verdicts.indexOf(verdict)))[0] as Mark;

  /** The corner with which the mark points; it is the only one at half the height. */
  const tip = (verdict: Effect['verdict']) => {
    const { points } = shapeOf(verdict);
    const middle = centre(points.map(([, y]) => y));
    const [found] = points.filter(([, y]) => Math.abs(y - middle) < 1);
    return (found?.[0] ?? Number.NaN) - centre(points.map(([x]) => x));
  };

  it('slower points in the worse direction, faster in the better one', () => {
    expect(tip('slower')).toBeGreaterThan(3);
    expect(tip('faster')).toBeLessThan(-3);
  });

  it('differs in shape from every other, and has its own colour', () => {
    const seen = verdicts.map((verdict) => shapeOf(verdict).attributes);
    expect(new Set(seen.map(({ d, fill = '' }) => `${d} ${fill === 'var(--page)'}`)).size).toBe(verdicts.length);
    for (const [i, { fill, stroke }] of seen.entries()) expect([fill, stroke]).toContain(`var(--${verdicts[i]})`);
  });

  it('that is inconclusive is hollow and hides the line behind it; any other is filled', () => {
    expect(shapeOf('inconclusive').attributes.fill).toBe('var(--page)');
    expect(shapeOf('same').attributes.fill).toBe('var(--same)');
  });

  it.each(verdicts)('has the same shape beside its word: %s', (verdict) =>
    expect(verdictBadge(verdict).toString()).toContain(`<path d="${verdictShapes[verdict].d}"`),
  );
});

describe('the columns of the forest', () => {
  const names = [
    'native',
    'hami-core-with-a-name-of-forty-character (unverified)',
    'hami-core-with-a-name-of-forty-xharacter (unverified)',
    'hami-core-sm50 (unverified)',
    'hami-core-sm50-b',
  ];
  const wide = 'W'.repeat(34);
  const effects = names.slice(1).map((system, i) => ({
    name: i === 0 ? wide : 'metric',
    system,
    ratio: 1.235e8,
    ratioCi95: [1.1e8, 1.4e8] as [number, number],
  }));
  const view = effectsOf(effects, names);
  const marks = marksIn(view);

  it('give every system its whole name', () => {
    const shown = textsOf(marks).filter(
      ({ text, attributes: { fill, 'text-anchor': anchor } }) =>
        anchor === 'end' && fill === 'var(--text)' && text !== '',
    );
    const said = shown
      .map(({ text }) => text)
      .join('')
      .replace(/\s/g, '');
    for (const name of names.slice(1)) expect(said).toContain(name.replace(/\s/g, ''));
  });

  it('do not overlap, and stay inside the drawing', () => {
    const { width } = forestOf(view).drawings[0]?.drawing.size ?? { width: 0 };
    const places = textsOf(marks)
      .filter(({ attributes }) => attributes['text-anchor'] !== 'middle')
      .map((mark) => {
        const [[x, y] = [0, 0]] = mark.points;
        const own = widthOf(mark.text);
        return { y, from: mark.attributes['text-anchor'] === 'end' ? x - own : x, own };
      });
    expect(places.length).toBeGreaterThanOrEqual(8);
    for (const row of new Set(places.map(({ y }) => y))) {
      const texts = places.filter(({ y }) => y === row).sort((a, b) => a.from - b.from);
      expect(texts[0]?.from).toBeGreaterThanOrEqual(0);
      texts.reduce((before, text) => {
        expect(text.from).toBeGreaterThanOrEqual(before.from + before.own);
        return text;
      });
      const last = texts.at(-1);
      expect((last?.from ?? 0) + (last?.own ?? 0)).toBeLessThanOrEqual(width + 0.2);
    }
  });

  it('show names in full in the tips', () => {
    for (const name of names.slice(1))
      expect(marks.some((mark) => tipOf(mark).includes(`${name} against native`))).toBe(true);
  });
});
