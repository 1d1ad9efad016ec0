import { describe, expect, it } from 'vitest';
import type { ComparisonDocument } from '../../../lib/results/document.js';
import { lineCharts } from '../../../lib/report/charts/line-charts.js';
import { type Lines, linesDrawing } from '../../../lib/report/charts/lines.js';
import { sharesOf } from '../../../lib/report/charts/shares.js';
import { lineFigures, shareFigures } from '../../../lib/report/html/figures/figures.js';
import { frontierMarkdown } from '../../../lib/report/tables/frontier.js';
import { bodies } from '../../../lib/report/html/sections.js';
import { type View, viewOf } from '../../../lib/results/view.js';
import { type Mark, marksOf, reading, textsOf, tipOf, xsOf, ysOf } from './charts-marks.js';
import { comparisonOf, words } from './html-fixtures.js';
import { result } from '../run/fixtures.js';

/** A metric with the details that `detailsOf` returns for every round. */
function detailed(
  metric: string,
  systems: readonly string[],
  rounds: number,
  detailsOf: (round: number, system: number) => Record<string, unknown>,
): View {
  const document = comparisonOf({ metrics: 1, systems, rounds });
  document.systems.forEach((runs, system) =>
    runs.forEach((run, round) => {
      run.metrics = [result(metric, { details: detailsOf(round, system) })];
    }),
  );
  document.effects = [];
  return viewOf(document);
}

function chartOf(view: View, title: string): Lines {
  const chart = lineCharts.find((one) => one.title.startsWith(title)) ?? expect.fail(`no ${title}`);
  return { ...chart, series: chart.series(view), references: chart.references(view) };
}

const marksIn = (lines: Lines): Mark[] => marksOf(linesDrawing(lines) ?? expect.fail('no drawing'));
const tipsIn = (lines: Lines): string[] =>
  marksIn(lines)
    .map(tipOf)
    .filter((tip) => tip !== '');
/** Cells of the rows of all tables. */
const cellsOf = (markup: string): string[][] =>
  [...markup.matchAll(/<tr>\s*<th scope="row".*?<\/tr>/gs)].map(([row]) =>
    [...row.matchAll(/<t[hd][^>]*>([^<]*)/g)].map(([, text = '']) => text),
  );

describe('throughput against batch size', () => {
  const batches = (round: number, system: number) => ({
    batches: [1, 8, 64].map((batch) => ({ batch, tokensPerSecond: 100 * batch * (1 - 0.1 * system) + round })),
  });
  const view = detailed('LLM-003', ['native', 'mps'], 3, batches);

  it('is a line per system, and a table', () => {
    const points = ['native: 101 at 1', 'native: 801 at 8', 'native: 6401 at 64', 'mps: 91 at 1', 'mps: 721 at 8', 'mps: 5761 at 64']; // prettier-ignore
    expect(tipsIn(chartOf(view, 'Throughput'))).toEqual(
      points.map((point) => `${point} (tokens a second, sequences in a batch)`),
    );
    expect(cellsOf(lineFigures(view, ['LLM-003']).map(String).join(''))).toEqual([
      ['1', '101.0', '91.00'],
      ['8', '801.0', '721.0'],
      ['64', '6401', '5761'],
    ]);
  });
});

describe('the time of a checkpoint against bytes', () => {
  const GB = 1e9;
  const sizes = (ceilingGbs: unknown) => (round: number, system: number) => ({
    sizes: [0, 1, 8].map((gb) => ({ bytes: gb * GB, targets: 2, seconds: 0.4 + gb / 2 + round + system })),
    link: { ceilingGbs },
  });
  const view = detailed('CKPT-002', ['native', 'mps'], 3, sizes(50));

  it('is beside the time at the rate of the link, from the least to the greatest time', () => {
    const chart = chartOf(view, 'Time of a checkpoint');
    expect(chart.references).toEqual([{ name: 'at the rate of the link, 50 GB/s', a: 0, b: 1 / (50 * GB) }]);
    const dashed = marksIn(chart).filter(({ attributes }) => attributes['stroke-dasharray'] !== undefined);
    expect(dashed.length).toBeGreaterThan(0);
    const [figure = ''] = lineFigures(view, ['CKPT-002']).map(String);
    expect(figure).toContain('at the rate of the link, 50 GB/s');
    expect(figure).toContain('Across it: at the rate of the link, 50 GB/s.');
  });

  it.each([null, '50', 0, -1, Number.NaN])('is alone where the link carries %s', (ceilingGbs) => {
    const other = detailed('CKPT-002', ['native', 'mps'], 3, sizes(ceilingGbs));
    expect(chartOf(other, 'Time of a checkpoint').references).toEqual([]);
    expect(lineFigures(other, ['CKPT-002']).map(String).join('')).not.toContain('Across it');
  });
});

describe('the frontier of token generation', () => {
  const frontier = (round: number, system: number) => ({
    frontier: [0, 1, 3].flatMap((coTenants) =>
      ['launches', 'graph'].map((mode) => ({
        ...{ coTenants, mode, p50Ms: 1, steps: 400 },
        tokensPerSecond: (coTenants + 1) * 100 - 10 * system + ([0, 5, 1][round] as number),
        // With three co-tenants no round has enough samples.
        p99Ms: coTenants === 3 && mode === 'graph' ? null : coTenants + 1 + round / 10,
      })),
    ),
  });
  const view = detailed('LLM-004', ['native', 'mps'], 3, frontier);

  it('has a point for each number of co-tenants, from medians over the rounds', () => {
    const { series } = chartOf(view, 'Frontier by launches');
    expect(series.map(({ name, points }) => [name, points])).toEqual([
      ['native', [[1.1, 101], [2.1, 201], [4.1, 401]]], // prettier-ignore
      ['mps', [[1.1, 91], [2.1, 191], [4.1, 391]]], // prettier-ignore
    ]);
    expect(chartOf(view, 'Frontier by a graph').series.map(({ points }) => points.length)).toEqual([2, 2]);
    expect(lineFigures(view, ['LLM-004'])).toHaveLength(2);
  });

  it('is a table in Markdown, with a reason for missing numbers', () => {
    const text = frontierMarkdown(view) ?? expect.fail('no table');
    expect(text.split('\n')).toHaveLength(2 + 2 * 3 * 2);
    expect(text).toMatch(/\| LLM-004 +\| native +\| launches +\| +3 \| +401\.0 \| +1\.000 \| +4\.100 \|/);
    const reason = 'tenants | do not fit';
    const row = { coTenants: 8, mode: 'graph', tokensPerSecond: null, p50Ms: null, p99Ms: null, reason };
    const none = detailed('LLM-004', ['native'], 1, () => ({ frontier: [row, { coTenants: 'x' }, null, 7] }));
    expect(frontierMarkdown(none)).toMatch(/\| +8 \| +– \| +– \| +tenants \\\| do not fit \|/);
  });

  it.each<[string, unknown]>([
    ['no details', null],
    ['no rows', {}],
    ['rows that are no list', { frontier: { length: 2 } }],
    ['rows that an object inherits', Object.create({ frontier: [{ coTenants: 1, mode: 'graph' }] })],
  ])('is omitted with %s', (_, details) =>
    expect(frontierMarkdown(detailed('LLM-004', ['native'], 1, () => details as Record<string, unknown>))).toBeNull(),
  );
});

describe('a line', () => {
  const starts = (round: number, system: number) => ({
    starts: [1, 4, 50].map((processes) => ({ processes, meanMs: processes * ([1, 2, 9][round] as number) + system })),
  });
  const view = detailed('START-006', ['native', 'hami-core'], 3, starts);

  it('uses medians over the rounds', () =>
    expect(tipsIn(chartOf(view, 'Time to the first result'))).toEqual(
      [
        'native: 2 at 1',
        'native: 8 at 4',
        'native: 100 at 50',
        'hami-core: 3 at 1',
        'hami-core: 9 at 4',
        'hami-core: 101 at 50',
      ].map((tip) => expect.stringMatching(`^${tip} `)),
    ));

  it('has every point in a table that needs no script', () => {
    const [figure = ''] = lineFigures(view, ['START-006']).map(String);
    expect(figure).toMatch(/<details>\s*<summary[^>]*>In figures.*<\/table>.*<\/details>/s);
    expect(cellsOf(figure)).toEqual([
      ['1', '2.000', '3.000'],
      ['4', '8.000', '9.000'],
      ['50', '100.0', '101.0'],
    ]);
  });

  it('of live allocations leaves out the single block', () => {
    const cells = [0, 256, 1024].map((live) => ({ live, pairNs: 1000 + live }));
    const alone = detailed('OH-007', ['native'], 1, () => ({ cells }));
    const seen = tipsIn(chartOf(alone, 'Allocation latency'));
    expect(seen).toEqual([
      expect.stringMatching(/^native: 1256 at 256 /),
      expect.stringMatching(/^native: 2024 at 1024 /),
    ]);
    expect(cellsOf(lineFigures(alone, ['OH-007']).map(String)[0] ?? '')).toEqual([
      ['256', '1256'],
      ['1024', '2024'],
    ]);
  });

  it.each<[string, unknown]>([
    ['no details', null],
    ['text', 'cells'],
    ['no rows', {}],
    ['rows that are no list', { cells: { length: 3 } }],
    [
      'rows that are none',
      { cells: [null, 7, 'x', [], { live: 1 }, { live: '1', pairNs: 2 }, { live: 1, pairNs: null }] },
    ],
    ['rows that an object inherits', Object.create({ cells: [{ live: 1, pairNs: 2 }] })],
  ])('has no point for %s', (_, details) => {
    const view = detailed('OH-007', ['native'], 1, () => details as Record<string, unknown>);
    expect(chartOf(view, 'Allocation latency').series.flatMap(({ points }) => points)).toEqual([]);
  });

  it('looks as in the legend', () => {
    const names = ['native', 'b', 'c', 'd', 'e', 'f'];
    const many = detailed('START-006', names, 1, starts);
    const [figure = ''] = lineFigures(many, ['START-006']).map(String);
    const keys = [...figure.matchAll(/<li>(.*?)<\/li>/gs)].map(([, key = '']) => ({
      colour: /stroke="(var[^"]*)"/.exec(key)?.[1],
      dash: /stroke-dasharray="([^"]*)"/.exec(key)?.[1]?.split(' ').join(','),
      name: /<\/svg>\s*(.*?)\s*$/s.exec(key)?.[1],
    }));
    expect(keys.map(({ name }) => name)).toEqual(names);
    const marks = marksIn(chartOf(many, 'Time to the first result'));
    const lines = marks.filter(({ attributes }) => attributes['stroke-width'] === '1.75');
    expect(
      lines.map(({ attributes }) => ({ colour: attributes.stroke, dash: attributes['stroke-dasharray'] })),
    ).toEqual(keys.map(({ colour, dash }) => ({ colour, dash })));
    // The first point of every line has as many corners as the legend's key.
    const corners = names.map((name) => marks.find((mark) => tipOf(mark).startsWith(`${name}: `))?.attributes);
    corners.forEach((attributes, i) => expect(attributes?.fill).toBe(keys[i]?.colour));
    expect(new Set(corners.slice(0, 4).map((attributes) => attributes?.d)).size).toBe(4);
  });

  it('that does not fit is named, and listed in the table', () => {
    const names = Array.from({ length: 18 }, (_, i) => `system-${i}`);
    const [figure = ''] = lineFigures(detailed('START-006', names, 1, starts), ['START-006']).map(String);
    expect(figure).toContain('Not drawn for lack of space: system-16, system-17.');
    expect(cellsOf(figure)[0]).toHaveLength(19);
    expect(lineFigures(view, ['START-006']).map(String)[0]).not.toContain('Not drawn for lack of space');
  });
});

describe('shares of the card', () => {
  type Limit = ComparisonDocument['computeLimits'][number];
  function limited(systems: readonly string[], change: Partial<Limit> = {}): View {
    const document = comparisonOf({ metrics: 1, systems: ['native', ...systems], rounds: 1 });
    document.computeLimits = systems.map((system) => ({
      system,
      limitPercent: 30,
      label: 'throttled',
      achievedPercent: 45,
      detail: 'a load',
      binMs: 100,
      sharesPercent: [80, 10, 40, 50],
      ...change,
    }));
    return viewOf(document);
  }
  const view = limited(['hami-core']);
  const marks = marksOf(sharesOf(view).charts[0]?.drawing ?? expect.fail('no drawing'));
  const percents = reading(
    textsOf(marks).filter(({ text, attributes }) => /^\d+$/.test(text) && attributes['text-anchor'] === 'end'),
    'y',
  );
  const seconds = reading(
    textsOf(marks).filter(({ text, attributes }) => /^[\d.]+$/.test(text) && attributes['text-anchor'] === 'middle'),
    'x',
  );
  const levels = marks.filter(({ attributes }) => attributes.stroke === 'var(--text)');

  it('are bars from zero, each over its own time', () => {
    const bars = marks.filter((mark) => tipOf(mark) !== '');
    const seen = bars.map((bar) => [
      [Math.min(...xsOf(bar)), Math.max(...xsOf(bar))].map((x) => Number(seconds(x).toFixed(2))),
      [Math.max(...ysOf(bar)), Math.min(...ysOf(bar))].map((y) => Math.round(percents(y)) + 0),
    ]);
    expect(seen).toEqual([
      [[0, 0.1], [0, 80]],
      [[0.1, 0.2], [0, 10]],
      [[0.2, 0.3], [0, 40]],
      [[0.3, 0.4], [0, 50]],
    ]); // prettier-ignore
  });

  it('have a line at the limit, over the whole time', () => {
    const [limit] = levels.filter(({ attributes }) => 'stroke-dasharray' in attributes);
    expect(percents(ysOf(limit as Mark)[0] ?? 0)).toBeCloseTo(30, 0);
    const xs = xsOf(limit as Mark).map(seconds);
    expect([Math.min(...xs), Math.max(...xs)].map((x) => x.toFixed(2))).toEqual(['0.00', '0.40']);
  });

  it('show the achieved share, and that it covers the second half', () => {
    const [achieved] = levels.filter(({ attributes }) => !('stroke-dasharray' in attributes));
    const [low, high] = [Math.max(...ysOf(achieved as Mark)), Math.min(...ysOf(achieved as Mark))].map(percents);
    expect(((low ?? 0) + (high ?? 0)) / 2).toBeCloseTo(45, 0);
    const xs = xsOf(achieved as Mark).map(seconds);
    expect([Math.min(...xs), Math.max(...xs)].map((x) => x.toFixed(2))).toEqual(['0.20', '0.40']);
    const body = bodies['compute-limits']?.({ view, words })?.toString() ?? '';
    expect(body).toContain('Achieved in the second half');
    expect(body).toContain('limit, 30 %');
    expect(body).toContain('mean of the second half: 45.00 %');
  });

  it('are in a table that needs no script', () =>
    expect(cellsOf(shareFigures(view)?.toString() ?? '')).toEqual([
      ['0', '0.1', '80.00'],
      ['0.1', '0.2', '10.00'],
      ['0.2', '0.3', '40.00'],
      ['0.3', '0.4', '50.00'],
    ]));

  it('are averaged if there are too many to show, and the page gives the length', () => {
    const long = limited(['hami-core'], { sharesPercent: Array.from({ length: 600 }, (_, i) => (i % 5) * 10) });
    const [{ stretches } = expect.fail('no chart')] = sharesOf(long).charts;
    expect(stretches).toHaveLength(120);
    expect(stretches.every(({ percent }) => Math.abs(percent - 20) < 1e-9)).toBe(true);
    expect(shareFigures(long)?.toString()).toContain('Each bar covers 0.5 s.');
  });

  it('are drawn for every system, and named if there is no room', () => {
    const names = (count: number) => Array.from({ length: count }, (_, i) => `limited-${i}`);
    const drawnOf = (count: number) => sharesOf(limited(names(count))).charts.map(({ system }) => system);
    expect(drawnOf(12)).toEqual(names(12));
    expect(drawnOf(40)).toEqual(names(32));
    expect(shareFigures(limited(names(34)))?.toString()).toContain(
      'Not drawn for lack of space: limited-32, limited-33.',
    );
  });

  it('have no drawing if nothing ran', () => {
    const none = limited(['hami-core'], { label: 'not checked', achievedPercent: null, sharesPercent: [] });
    expect(shareFigures(none)).toBeNull();
  });
});
