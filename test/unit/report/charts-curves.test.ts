/** Charts of metrics whose answer is a curve: their points, their axes, and the lines that a metric fitted. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lineCharts } from '../../../lib/report/charts/line-charts.js';
import { type Lines, linesDrawing } from '../../../lib/report/charts/lines.js';
import { lineFigures } from '../../../lib/report/html/figures/figures.js';
import { viewOf } from '../../../lib/results/view.js';
import { marksOf, textsOf, tipOf, xsOf, ysOf } from './charts-marks.js';
import { CURVES, curvesComparison } from './curve-fixtures.js';

const view = viewOf(curvesComparison());

const chartsOf = (metric: string): Lines[] =>
  lineCharts
    .filter((chart) => chart.metric === metric)
    .map((chart) => ({ ...chart, series: chart.series(view), references: chart.references(view) }));

const figuresOf = (metric: string) => lineFigures(view, [metric]).map(String);
const marksIn = (lines: Lines) => marksOf(linesDrawing(lines) ?? expect.fail('no drawing'));

describe('curves of metrics', () => {
  it('match their golden file', async () => {
    const figures = CURVES.flatMap((metric) => figuresOf(metric)).join('');
    await expect(`${figures}\n`).toMatchFileSnapshot(join(import.meta.dirname, '../../golden/curves.html'));
  });

  it.each(CURVES)('%s is drawn, with both systems in every chart and in figures', (metric) => {
    const charts = chartsOf(metric);
    expect(charts.length).toBeGreaterThan(0);
    for (const { series } of charts)
      for (const { points } of series) expect(new Set(points.map(([x]) => x)).size).toBeGreaterThan(2);
    const figures = figuresOf(metric);
    expect(figures).toHaveLength(charts.length);
    for (const figure of figures) {
      expect(figure).toMatch(/<details>.*native.*layer.*<\/details>/s);
    }
  });

  it('have medians over rounds: a part of the link for each tenant', () => {
    const [together, worst] = chartsOf('PCIE-003');
    const aggregate = 55 * 1.01;
    expect(together?.series[0]?.points).toEqual([1, 2, 4].map((count) => [count, expect.closeTo(aggregate, 9)]));
    expect(worst?.series[0]?.points).toEqual([1, 2, 4].map((count) => [count, expect.closeTo(aggregate / count, 9)]));
  });

  it('show the distribution of slices by their length, from 0 to 100 %', () => {
    const [chart] = chartsOf('SCHED-001');
    const points = chart?.series[1]?.points ?? [];
    expect(points).toContainEqual([1, 0]);
    expect(points).toContainEqual([6, 100]);
    expect(points.find(([, percent]) => percent === 50)).toEqual([3.5, 50]);
  });

  it('keep the delays behind one, eight and 64 queued kernels apart', () => {
    const ends = chartsOf('SCHED-004').map(({ series }) => series[1]?.points.at(-1));
    expect(ends).toEqual([1 / 2, 1, 8, 64].map((b) => [100, expect.closeTo(0.05 + 100 * b, 9)]));
  });
});

describe('a fitted line', () => {
  it('is the median over rounds of what the metric fitted, and is told in words', () => {
    const [median, longest] = chartsOf('SCHED-004');
    expect(median?.series.map(({ fit }) => fit)).toEqual([
      { a: 1.71, b: 0.001 },
      { a: 0.05, b: 0.5 },
    ]);
    expect(longest?.series[1]?.fit).toEqual({ a: 0.05, b: 1 });
    expect(figuresOf('SCHED-004')[1]).toContain(
      'The lines are fits a + b·x. native: a = 1.71, b = 0.002; layer: a = 0.05, b = 1.',
    );
    expect(figuresOf('BW-003')[0]).not.toContain('fits a + b');
  });

  it('goes through the points that lie on it, and replaces the lines between points', () => {
    const [, longest = expect.fail('no chart')] = chartsOf('SCHED-004');
    const marks = marksIn(longest);
    const lines = marks.filter(({ attributes }) => attributes['stroke-width'] === '1.75');
    expect(lines).toHaveLength(2);
    const fitted = lines[1] ?? expect.fail('no line');
    const corners = xsOf(fitted).map((x, i) => [x, ysOf(fitted)[i] ?? 0] as const);
    expect(corners.length).toBeGreaterThan(20);
    const points = marks.filter((mark) => tipOf(mark).startsWith('layer: '));
    expect(points).toHaveLength(5);
    for (const point of points) {
      const [x, y] = [xsOf(point), ysOf(point)].map((all) => (Math.min(...all) + Math.max(...all)) / 2) as [
        number,
        number,
      ];
      const nearest = corners.reduce((best, corner) =>
        Math.abs(corner[0] - x) < Math.abs(best[0] - x) ? corner : best,
      );
      expect(Math.hypot(nearest[0] - x, nearest[1] - y)).toBeLessThan(4);
    }
  });

  it('ends where it leaves the axes', () => {
    const [, longest = expect.fail('no chart')] = chartsOf('SCHED-004');
    const series = longest.series.slice(1).map((one) => ({ ...one, fit: { a: -1, b: 1 } }));
    const [line] = marksIn({ ...longest, series }).filter(({ attributes }) => attributes['stroke-width'] === '1.75');
    const [left, right] = [Math.min(...xsOf(line ?? expect.fail('no line'))), Math.max(...xsOf(line as never))];
    const [whole] = marksIn({ ...longest, series: longest.series.slice(1) }).filter(
      ({ attributes }) => attributes['stroke-width'] === '1.75',
    );
    expect(right).toBeCloseTo(Math.max(...xsOf(whole ?? expect.fail('no line'))), 0);
    // Below 1 ms there is nothing above 0.
    expect(left).toBeGreaterThan(Math.min(...xsOf(whole as never)) + 50);
  });

  it.each<[string, unknown]>([
    ['no list', { fits: { length: 1 } }],
    ['another depth', { fits: [{ queued: 8, p50: { aMs: 1, b: 1 } }] }],
    ['no numbers', { fits: [{ queued: 1, p50: { aMs: '1', b: 1 } }, { queued: 1, p50: 7 }, null] }],
  ])('is absent where the details have %s', (_, details) => {
    const document = curvesComparison();
    for (const run of document.systems.flat())
      for (const metric of run.metrics)
        if (metric.id === 'SCHED-004') metric.details = { ...metric.details, ...(details as object) };
    const chart = lineCharts.find(({ metric }) => metric === 'SCHED-004') ?? expect.fail('no chart');
    expect(chart.series(viewOf(document)).map(({ fit }) => fit)).toEqual([null, null]);
  });
});

describe('a logarithmic axis', () => {
  const labels = (metric: string) =>
    textsOf(marksIn(chartsOf(metric)[0] ?? expect.fail('no chart'))).filter(({ text }) =>
      /^[\d.e+-]+( .?i?B)?$/.test(text),
    );

  it('is labelled with powers, or with sizes, and places equal ratios equally far apart', () => {
    const sizes = labels('PCIE-001').filter(({ text }) => text.endsWith('B'));
    expect(sizes.length).toBeGreaterThan(1);
    for (const { text } of sizes) expect(text).toMatch(/^\d+ ([KMG]i)?B$/);
    const powers = labels('SCHED-004').filter(({ attributes }) => attributes['text-anchor'] === 'middle');
    expect(powers.length).toBeGreaterThan(1);
    const steps = powers.slice(1).map((mark, i) => {
      const before = powers[i] ?? expect.fail('no label');
      const distance = (xsOf(mark)[0] ?? 0) - (xsOf(before)[0] ?? 0);
      return distance / Math.log(Number(mark.text) / Number(before.text));
    });
    for (const step of steps) expect(step).toBeCloseTo(steps[0] ?? Number.NaN, 0);
  });

  it('has no place for 0 and below', () => {
    const [chart = expect.fail('no chart')] = chartsOf('PCIE-001');
    const series = [{ name: 'one', look: 0, points: [[0, 1], [-5, 1], [4_096, 1], [65_536, 2]] as [number, number][] }]; // prettier-ignore
    const tips = marksIn({ ...chart, series })
      .map(tipOf)
      .filter((tip) => tip !== '');
    expect(tips).toEqual(['one: 1 at 4 KiB (GB/s, size of a copy)', 'one: 2 at 64 KiB (GB/s, size of a copy)']);
  });

  it('does not cross the other axis at its own 0, which is 1', () => {
    const [chart = expect.fail('no chart')] = chartsOf('SCHED-004');
    const marks = marksIn(chart);
    const labels = textsOf(marks).filter(({ attributes }) => attributes['text-anchor'] === 'end');
    const left = Math.max(...labels.flatMap(xsOf));
    const uprights = marks.filter((mark) => mark.attributes.stroke === 'var(--axis)' && new Set(xsOf(mark)).size === 1);
    expect(uprights.length).toBeGreaterThan(0);
    for (const line of uprights) expect((xsOf(line)[0] ?? 0) - left).toBeLessThan(20);
  });
});
