import { describe, expect, it } from 'vitest';
import { heatOf } from '../../../lib/report/charts/heat.js';
import { heatFigure } from '../../../lib/report/html/figures/figures.js';
import { type View, viewOf } from '../../../lib/results/view.js';
import { type Mark, marksOf, reading, textsOf, tipOf, xsOf, ysOf } from './charts-marks.js';
import { comparisonOf } from './html-fixtures.js';

type Reading = [seconds: number, percent: number];

function sampled(readings: readonly Reading[], systems = ['only'], rounds = 1): View {
  const document = comparisonOf({ metrics: 1, systems, rounds, readings: readings.length });
  for (const { sampler } of document.systems.flat())
    Object.assign(sampler ?? {}, {
      intervalMs: 1_000,
      timeMs: readings.map(([seconds]) => 1_000 * seconds),
      gpuPercent: readings.map(([, percent]) => percent),
    });
  return viewOf(document);
}

const marksIn = (view: View): Mark[] => marksOf(heatOf(view)?.drawing ?? expect.fail('no drawing'));
const cellsIn = (view: View): Mark[] => marksIn(view).filter((mark) => tipOf(mark) !== '');

/** The colour and the end, in seconds, of every cell. */
function cells(view: View): { fill: string; end: number; height: number; tip: string }[] {
  const labels = textsOf(marksIn(view)).filter(({ text }) => /^[\d.]+$/.test(text));
  const seconds = reading(labels, 'x');
  return cellsIn(view).map((mark) => ({
    fill: mark.attributes.fill ?? '',
    end: seconds(Math.max(...xsOf(mark))),
    height: Math.max(...ysOf(mark)) - Math.min(...ysOf(mark)),
    tip: tipOf(mark),
  }));
}

describe('the GPU over time', () => {
  it('is darker the busier, level by level', () => {
    const levels = [0, 1, 20, 21, 40, 41, 60, 61, 80, 81, 100];
    const seen = cells(sampled(levels.map((percent, i): Reading => [i, percent])));
    // Adjacent cells of one level are merged.
    expect(seen.map(({ fill }) => fill)).toEqual([0, 1, 2, 3, 4, 5].map((level) => `var(--heat-${level})`));
    [1, 3, 5, 7, 9].forEach((end, i) => expect(seen[i]?.end).toBeCloseTo(end, 0));
  });

  it('has the levels that the legend shows', () => {
    const legend = (heatFigure(sampled([[0, 5], [1, 5]]))?.toString() ?? '').replace(/<div.*/s, '').replace(/<(?!rect)[^>]*>|\s+/g, ' '); // prettier-ignore
    const said = [...legend.matchAll(/fill="(var[^"]*)"|<rect[^>]*>[^\w]*([\w ]+%|no reading)/g)];
    expect(said.map(([, , text]) => text?.trim())).toEqual([
      '0 %',
      'to 20 %',
      'to 40 %',
      'to 60 %',
      'to 80 %',
      'to 100 %',
      'no reading',
    ]);
  });

  it('shows the mean of simultaneous readings', () => {
    const seen = cells(sampled([[0, 0], [0.01, 0], [0.02, 90], [100, 50]])); // prettier-ignore
    expect(seen[0]).toMatchObject({ fill: 'var(--heat-2)' });
    expect(seen[0]?.tip).toMatch(/ 30 % busy$/);
  });

  it('has mean, median and maximum of every round', () => {
    const view = sampled([[0, 0], [1, 0], [2, 90]]); // prettier-ignore
    expect(heatOf(view)?.rounds).toEqual([{ name: 'only', mean: 30, median: 0, most: 90 }]);
    expect(textsOf(marksIn(view)).map(({ text }) => text)).toContain('mean 30 %');
    expect(heatFigure(view)?.toString()).toMatch(/only<\/th>\s*<td[^>]*>30\.00<.*<td[^>]*>0<.*<td[^>]*>90\.00</s);
  });

  it('holds a reading while the next one is late', () =>
    expect(cells(sampled([[0, 100], [3, 100], [6, 100]])).map(({ fill }) => fill)).toEqual(['var(--heat-5)'])); // prettier-ignore

  it('is a thin line without a level where there is no reading', () => {
    const [before, gap, after, ...rest] = cells(sampled([[0, 100], [1, 100], [6, 100], [7, 100]])); // prettier-ignore
    expect(rest).toEqual([]);
    expect([before?.fill, gap?.fill, after?.fill]).toEqual(['var(--heat-5)', 'var(--axis)', 'var(--heat-5)']);
    expect(gap?.height).toBeLessThan((before?.height ?? 0) / 4);
    expect(before?.end).toBeCloseTo(1, 0);
    expect(gap?.end).toBeCloseTo(6, 0);
    expect(gap?.tip).toMatch(/: no reading$/);
  });
});

describe('the GPU over the time of many rounds', () => {
  const systems = Array.from({ length: 10 }, (_, i) => `hami-core-with-a-name-of-forty-characte-${i} (unverified)`);
  const view = sampled([[0, 10], [1, 20]], systems, 10); // prettier-ignore
  const heat = heatOf(view) ?? expect.fail('no drawing');
  const roundsOf = (system: string) => [
    ...new Set(
      cellsIn(view).flatMap((mark) => (tipOf(mark).startsWith(system) ? / round (\d+),/.exec(tipOf(mark))?.[1] : [])),
    ),
  ];

  it('draws equally many rounds of every system, from its first to its last', () => {
    for (const system of systems) expect(roundsOf(system)).toEqual(['1', '4', '7', '10']);
  });

  it('lists all rounds in a table with their full names, and says how many are drawn', () => {
    expect(heat.rounds.map(({ name }) => name)).toEqual(
      systems.flatMap((system) => Array.from({ length: 10 }, (_, i) => `${system}, round ${i + 1}`)),
    );
    const page = heatFigure(view)?.toString() ?? '';
    for (const { name } of heat.rounds) expect(page).toContain(`<th scope="row">${name}</th>`);
    expect(page).toContain('40 of 100 rounds are drawn');
  });

  it('gives every row its whole name', () => {
    const said = textsOf(marksOf(heat.drawing))
      .map(({ text }) => text)
      .join('')
      .replace(/\s/g, '');
    const [first] = heat.rounds;
    expect(said).toContain(first?.name.replace(/\s/g, ''));
    for (const system of systems) expect(said).toContain(system.replace(/\s/g, ''));
    expect(said).not.toContain('…');
  });

  it('has no note about rounds if all are drawn', () =>
    expect(heatFigure(sampled([[0, 10], [1, 20]], ['a', 'b'], 2))?.toString()).not.toContain('rounds are drawn')); // prettier-ignore
});
