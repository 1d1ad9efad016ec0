/** Prices, ranks and fronts in every format. */
import { join } from 'node:path';
import MarkdownIt from 'markdown-it';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { ranked } from '../../../lib/costs/concluded.js';
import { type Front, frontsOf } from '../../../lib/costs/fronts.js';
import { renderReport } from '../../../lib/rendering.js';
import { frontLines } from '../../../lib/report/charts/front-lines.js';
import { linesDrawing } from '../../../lib/report/charts/lines.js';
import { comparisonReport } from '../../../lib/report/formats/comparison.js';
import { comparisonDocumentSchema, type ComparisonDocument } from '../../../lib/results/document.js';
import { plain } from '../../../lib/results/text/plain.js';
import { prices, served, serving } from '../costs/fixtures.js';
import { marksOf, reading, textsOf, tipOf, xsOf, ysOf } from './charts-marks.js';
import { comparison } from './fixtures.js';
import { without } from '../run/fixtures.js';
import { nasty } from './hostile.js';
import { kinds, parse } from './html-page.js';

const screen = { width: 160, hasUtf8: true };
const sectionOf = (markdown: string, title: string): string =>
  markdown.split(`## ${title}\n`)[1]?.split('\n## ')[0] ?? expect.fail(`no section ${title}`);

describe('a report of costs', () => {
  const document = served();

  it('is what it was', async () => {
    await expect(await renderReport(document, 'markdown')).toMatchFileSnapshot(
      join(import.meta.dirname, '../../golden/costs.md'),
    );
    await expect(`${comparisonReport(document, screen)}\n`).toMatchFileSnapshot(
      join(import.meta.dirname, '../../golden/costs.txt'),
    );
  });

  it('is rendered alike from what was stored', async () => {
    const stored: unknown = JSON.parse(await renderReport(document, 'json'));
    const read = v.parse(comparisonDocumentSchema, stored);
    for (const format of ['markdown', 'html', 'csv', 'openmetrics'] as const)
      expect(await renderReport(read, format)).toBe(await renderReport(document, format));
  });

  it('has the sections on the page, with a chart', async () => {
    const page = await renderReport(document, 'html');
    const { texts } = parse(page);
    const text = texts.join(' ').replace(/\s+/g, ' ');
    expect(page).toMatch(
      /<section id="ranking".*<section id="fronts".*<svg [^>]*aria-label="decode: tokens-per-second/s,
    );
    expect(text).toContain('native: 3.6 USD an hour for 100 % of the card (whole card)');
    expect(text).toContain('behind mps-50 batch=1, shown');
  });

  it('has no section where there is nothing to rank, compare or price', async () => {
    const alone = comparison([{ name: 'native', metrics: serving({ w: [1, 1] }) }]);
    for (const format of ['markdown', 'html'] as const)
      expect(await renderReport({ ...alone, callEffects: [] }, format)).not.toMatch(/Ranking|against p99|Price/);
  });

  it('names the reason in place of a rank, a point and a number', async () => {
    const given = comparison(
      ['native', 'a', 'b', 'c'].map((name) => ({
        name,
        metrics: (round: number) =>
          serving({ w: [10, 1] })(round).map((result) =>
            name === 'c' ? without(result, 'failed', 'exit | code 1') : result,
          ),
      })),
    );
    const failed = ranked({ ...given, callEffects: [] });
    const markdown = await renderReport(failed, 'markdown');
    expect(sectionOf(markdown, 'Ranking')).toContain('| – | c | – | – | failed: exit \\| code 1 |');
    expect(sectionOf(markdown, 'Throughput against p99 latency')).toContain(
      '- c, w: w/itl-p99 is failed: exit \\| code 1',
    );
    expect(comparisonReport(failed, screen)).toContain('; c: failed: exit | code 1');
  });
});

describe('the drawing of throughput against p99 latency', () => {
  const systems = ['native', 'hami-50', 'mps-50'];
  const [front] = frontsOf(served());
  const marks = marksOf(linesDrawing(frontLines(front as Front, 'title', systems)) ?? expect.fail('no drawing'));
  const labels = textsOf(marks);
  const numbers = (anchor: string) =>
    labels.filter(({ text, attributes }) => /^[\d.]+$/.test(text) && attributes['text-anchor'] === anchor);
  const [x, y] = [reading(numbers('middle'), 'x'), reading(numbers('end'), 'y')];
  const strokes = marks.filter(
    ({ attributes }) =>
      attributes.stroke !== undefined && attributes['stroke-width'] !== '0' && !('data-tip' in attributes),
  );

  it('has a mark for every point', () => {
    const tips = marks.map(tipOf).filter((tip) => tip !== '');
    expect(tips).toHaveLength(6);
    expect(tips.slice(0, 2)).toEqual([
      'native: 1002 at 1.002 (tokens-per-second, tokens/s, itl-p99, ms)',
      'native: 6012 at 1.403 (tokens-per-second, tokens/s, itl-p99, ms)',
    ]);
  });

  it('has a line along the front, at its places', () => {
    const along = strokes.filter(({ attributes }) => attributes.stroke === 'var(--muted)');
    expect(along).toHaveLength(1);
    const places = along[0]?.points.map(([px, py]) => [x(px), y(py)]) ?? [];
    const truths = [
      [2.004, 501],
      [3.206, 2_906],
      [3.507, 2_907],
    ] as const;
    expect(places).toHaveLength(truths.length);
    for (const [i, [latency, throughput]] of truths.entries()) {
      expect(places[i]?.[0]).toBeCloseTo(latency, 1);
      // A pixel is 57 tokens per second.
      expect(Math.abs((places[i]?.[1] ?? 0) - throughput)).toBeLessThan(57);
    }
  });

  it('has a bar for each interval of every point, in the colour of its system', () => {
    for (const [system, name] of systems.entries()) {
      const own = strokes.filter(({ attributes }) => attributes.stroke === `var(--system-${system})`);
      expect([name, own.length]).toEqual([name, 4]);
      const heights = own.map((bar) => Math.max(...ysOf(bar)) - Math.min(...ysOf(bar)));
      const widths = own.map((bar) => Math.max(...xsOf(bar)) - Math.min(...xsOf(bar)));
      // Horizontal intervals are as high as their caps, vertical ones as wide.
      expect(heights.filter((height) => Math.abs(height - 8) < 0.01)).toHaveLength(2);
      expect(widths.filter((width) => Math.abs(width - 8) < 0.01)).toHaveLength(2);
    }
  });

  it('is drawn of points without an interval, and of values that no axis has room for not', () => {
    const point = (front as Front).points[0] as Front['points'][number];
    const bare = { ...point, latency: { value: 1, interval: null }, throughput: { value: 2, interval: null } };
    const far = { ...bare, latency: { value: 1e300, interval: null } };
    const drawing = linesDrawing(frontLines({ ...(front as Front), points: [bare, far] }, 'title', systems));
    expect(drawing?.tips.flat().filter((tip) => tip !== '')).toHaveLength(1);
  });
});

describe('names of strangers in prices and ranks', () => {
  /** Text that a document may contain; a configuration's `prices` allow less. */
  const hostile = (text: string): ComparisonDocument => {
    const document = ranked({
      ...comparison(['native', 'a', 'b'].map((name) => ({ name, metrics: serving({ w: [10, 1] }) }))),
      callEffects: [],
    });
    return {
      ...document,
      prices: { ...prices, currency: text },
      rankings: (document.rankings ?? []).map((ranking) => ({
        ...ranking,
        metric: text,
        unit: text,
        systems: ranking.systems.map((one, i) => ({ ...one, reason: text, system: `${text}${i}` })),
      })),
      systems: document.systems.map((rounds) =>
        rounds.map((round) => ({
          ...round,
          metrics: round.metrics.map((result) => ({ ...result, unit: result.unit === 'ms' ? 'ms' : `${text}/s` })),
        })),
      ),
    };
  };
  const markdown = new MarkdownIt('default', { html: true, linkify: true });
  const harmless = ['x', 'W'.repeat(80)].map(async (text) => [
    ...kinds(parse(await renderReport(hostile(text), 'html'))),
  ]);

  // Other tests cover these texts too, and each page takes a while.
  it.each(nasty.filter((text) => /script|img|^\| a|gnirts|line one|__proto__|^$/.test(text)))(
    'are text in every format: %j',
    async (text) => {
      const document = hostile(text);
      const known = (await Promise.all(harmless)).flat();
      expect([...kinds(parse(await renderReport(document, 'html')))].filter((kind) => !known.includes(kind))).toEqual(
        [],
      );
      const tokens = markdown.parse(await renderReport(document, 'markdown'), {});
      const inlines = tokens.flatMap(({ children }) => children ?? []);
      expect([...tokens, ...inlines].filter(({ type }) => /html|^link_|image|^em_/.test(type))).toEqual([]);
      const lines = comparisonReport(document, screen).split('\n');
      expect(lines.filter((line) => plain(line) !== line.trim())).toEqual([]);
      for (const format of ['csv', 'openmetrics', 'junit', 'bencher'] as const)
        expect(await renderReport(document, format)).not.toBe('');
    },
  );
});
