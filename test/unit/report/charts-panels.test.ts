import { describe, expect, it } from 'vitest';
import { barsPanel } from '../../../lib/report/charts/bars.js';
import { boxesPanel } from '../../../lib/report/charts/boxes.js';
import { type Panel, stacked } from '../../../lib/report/charts/panel.js';
import { widthOf } from '../../../lib/report/charts/text.js';
import { metricFigure } from '../../../lib/report/html/figures/figures.js';
import { type Row, rowsOf, type View } from '../../../lib/results/view.js';
import { type Mark, marksOf, reading, textsOf, tipOf, valuesOf, xsOf, ysOf } from './charts-marks.js';

const rowOf = (view: View): Row => rowsOf(view)[0] ?? expect.fail('no metric');
const drawn = (panel: Panel | null): Mark[] => marksOf(stacked([panel ?? expect.fail('no panel')], ''));
const bars = (view: View): Mark[] => drawn(barsPanel(rowOf(view)));
const boxes = (view: View): Mark[] => drawn(boxesPanel(rowOf(view)));
const ticks = (marks: readonly Mark[]): Mark[] =>
  textsOf(marks).filter(({ attributes }) => attributes['text-anchor'] === 'middle');
const isPoint = (mark: Mark): boolean => tipOf(mark).includes(', round ');
const centre = (values: readonly number[]): number => (Math.min(...values) + Math.max(...values)) / 2;
/** The ends of marks with the given tips, as values. */
function ends(marks: readonly Mark[], of: (mark: Mark) => boolean): [number, number] {
  const value = reading(ticks(marks), 'x');
  const xs = marks.filter(of).flatMap(xsOf);
  return [value(Math.min(...xs)), value(Math.max(...xs))];
}

describe('a bar', () => {
  const marks = bars(valuesOf({ a: [80], b: [-20] }, (value) => ({ ci95: [value - 15, value + 5] })));
  const of =
    (system: string, name: string) =>
    (mark: Mark): boolean =>
      tipOf(mark).startsWith(`${system}: `) && mark.name === name;

  it.each([
    ['a', [0, 80]],
    ['b', [-20, 0]],
  ] as const)('of %s goes from zero to the value', (system, expected) => {
    const found = ends(marks, of(system, 'path'));
    expected.forEach((value, i) => expect(found[i]).toBeCloseTo(value, 0));
  });

  it('begins at zero even if every value is far from it', () => {
    const far = bars(valuesOf({ a: [80], b: [90] }));
    expect(ticks(far)[0]?.text).toBe('0');
    for (const system of ['a', 'b']) expect(ends(far, of(system, 'path'))[0]).toBeCloseTo(0, 0);
    expect(ends(far, of('a', 'path'))[1]).toBeCloseTo(80, 0);
  });

  it.each([
    ['a', [65, 85]],
    ['b', [-35, -15]],
  ] as const)('of %s has its interval where it is', (system, expected) => {
    const found = ends(marks, of(system, 'polyline'));
    expected.forEach((value, i) => expect(found[i]).toBeCloseTo(value, 0));
  });
});

describe('a box', () => {
  it('shows quartiles and median, with whiskers to minimum and maximum', () => {
    const marks = boxes(valuesOf({ a: [30, 10, 60, 20, 90] }));
    const box = marks.find((mark) => tipOf(mark).includes('median')) ?? expect.fail('no box');
    const value = reading(ticks(marks), 'x');
    const seen = [...new Set(xsOf(box).map((x) => Math.round(value(x))))].sort((a, b) => a - b);
    expect(seen).toEqual([10, 20, 30, 60, 90]);
    // Quartiles are as high as the box; minimum and maximum are at the ends.
    const corners = box.points.slice(0, 4).map(([x]) => Math.round(value(x)));
    expect([Math.min(...corners), Math.max(...corners)]).toEqual([20, 60]);
    expect(tipOf(box)).toBe('a: median 30.00 us, quartiles 20.00 to 60.00, all 10.00 to 90.00, of 5 rounds');
  });

  it('shows the values of several rounds, or the blocks of one', () => {
    const figure = (view: View) => metricFigure(rowOf(view))?.toString() ?? '';
    expect(figure(valuesOf({ a: [1, 2] }))).toContain('Boxes: of the rounds’ values.');
    const single = valuesOf({ a: [5] }, () => ({ blocks: [4, 5, 6] }));
    expect(figure(single)).toContain('Boxes: of blocks of samples within one round.');
    expect(boxes(single).filter(isPoint)).toEqual([]);
    expect(figure(valuesOf({ a: [5] }))).not.toContain('Boxes:');
  });
});

it('bars and boxes of one drawing have their own tips', () => {
  const row = rowOf(valuesOf({ a: [30, 10, 60], b: [1, 2, 3] }, (value) => ({ ci95: [value - 1, value + 1] })));
  const panels = [barsPanel(row), boxesPanel(row)].map((panel) => panel ?? expect.fail('no panel'));
  for (const { series, tips } of panels) expect(tips).toHaveLength(series.length);
  const tips = marksOf(stacked(panels, '')).map(tipOf);
  expect(tips.filter((tip) => tip.includes('quartiles'))).toHaveLength(2);
  expect(tips.filter(Boolean)).toEqual(expect.arrayContaining(panels.flatMap((panel) => panel.tips.flat())));
});

describe('a point', () => {
  const said = (marks: readonly Mark[]) => marks.filter(isPoint).map((mark) => tipOf(mark));
  const places = (marks: readonly Mark[], system: string) =>
    new Map(
      marks
        .filter((mark) => isPoint(mark) && tipOf(mark).startsWith(system))
        .map((mark) => [/round \d+/.exec(tipOf(mark))?.[0], centre(ysOf(mark))]),
    );

  it.each([
    ['failed', null],
    ['lacks the metric', undefined],
  ])("shows its round's number and place if an earlier round %s", (_, missing) => {
    const marks = boxes(valuesOf({ a: [1, 2, 3, 4], b: [missing, 6, 7, 8] }));
    expect(said(marks)).toEqual([
      ...[1, 2, 3, 4].map((round) => `a, round ${round}: ${round}.000 us`),
      ...[2, 3, 4].map((round) => `b, round ${round}: ${round + 4}.000 us`),
    ]);
    const [a, b] = [places(marks, 'a'), places(marks, 'b')];
    const row = (a.get('round 4') ?? 0) - (b.get('round 4') ?? 0);
    for (const [round, y] of b) expect((a.get(round) ?? 0) - y).toBeCloseTo(row, 0);
    const down = [...a.values()];
    down.slice(1).forEach((y, i) => expect(y).toBeGreaterThan(down[i] as number));
  });

  it('represents others if there are too many, with a note', () => {
    const view = valuesOf({ a: Array.from({ length: 60 }, (_, i) => i + 1) });
    const shown = said(boxes(view));
    expect(shown).toHaveLength(40);
    expect([shown[0], shown.at(-1)]).toEqual(['a, round 1: 1.000 us', 'a, round 60: 60.00 us']);
    expect(metricFigure(rowOf(view))?.toString()).toContain('of which 40 per system are drawn as points');
  });
});

describe('the text beside bars and boxes', () => {
  const names = [
    'native',
    'hami-core-with-a-name-of-forty-character (unverified)',
    'hami-core-with-a-name-of-forty-xharacter (unverified)',
    'hami-core-sm50 (unverified)',
    'hami-core-sm50-b',
    'WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW',
  ];
  const view = valuesOf(Object.fromEntries(names.map((name, i) => [name, [1.234_5e12 * (i + 1), 1.3e12]])));

  it.each([
    ['bars', bars(view)],
    ['boxes', boxes(view)],
  ])('gives every system its whole name, in lines that fit into the drawing: %s', (_, marks) => {
    const shown = textsOf(marks).filter(
      ({ attributes: { 'text-anchor': anchor, transform } }) => anchor === 'end' && transform,
    );
    const said = shown
      .map(({ text }) => text)
      .join('')
      .replace(/\s/g, '');
    for (const name of names) expect(said).toContain(name.replace(/\s/g, ''));
    for (const { text, points } of shown) expect((points[0]?.[0] ?? 0) - widthOf(text)).toBeGreaterThanOrEqual(0);
  });

  it('has room for the values beside the plot', () => {
    const marks = bars(view);
    const end = Math.max(...ticks(marks).flatMap(xsOf));
    const values = textsOf(marks).filter(
      ({ text, attributes }) =>
        /^\d\.\d+e\+1[23]$/.test(text) && text.length > 8 && attributes['text-anchor'] !== 'middle',
    );
    expect(values.length).toBeGreaterThanOrEqual(names.length);
    for (const {
      text,
      points: [[x] = [0]],
    } of values) {
      expect(x).toBeGreaterThan(end);
      expect(x + widthOf(text)).toBeLessThanOrEqual(360);
    }
  });

  it.each([[[100_000.1, 100_000.9]], [[1, 123_456_789]]])('keeps the last label in the drawing: %j', (values) => {
    const marks = boxes(valuesOf({ a: values }));
    for (const { text, points } of ticks(marks))
      expect((points[0]?.[0] ?? 0) + widthOf(text) / 2).toBeLessThanOrEqual(360);
  });
});
