/** The details of isolation metrics as a page and as Markdown. */
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ResultDocument } from '../../../lib/results/kinds.js';
import { viewOf } from '../../../lib/results/view.js';
import { interferenceDrawing } from '../../../lib/report/charts/interference-map.js';
import { pathBars } from '../../../lib/report/charts/path-bars.js';
import { htmlReport } from '../../../lib/report/formats/html.js';
import { interferenceMaps } from '../../../lib/report/isolation/interference.js';
import { memoryPathsOf } from '../../../lib/report/isolation/memory-paths.js';
import { isolationMarkdown } from '../../../lib/report/markdown/markdown-isolation.js';
import { markdownReport } from '../../../lib/report/formats/markdown.js';
import { wordsOf } from '../../../lib/report/text/words.js';
import { marksOf, reading, textsOf, tipOf, xsOf } from './charts-marks.js';
import { nasty } from './hostile.js';
import { words } from './html-fixtures.js';
import { kinds, parse, rowsIn } from './html-page.js';
import { isolationComparison, isolationRun } from './isolation-fixtures.js';
import { result, runDocument } from '../run/fixtures.js';

const page = (document: ResultDocument) => htmlReport(viewOf(document), words);
const comparison = isolationComparison();
const text = page(comparison);
const parsed = parse(text);
const rows = rowsIn(text, 'isolation').map(({ cells }) => cells);

describe('the section on isolation', () => {
  it('follows the violations and the results', () => {
    expect(text.indexOf('id="violations"')).toBeGreaterThan(0);
    expect(text.indexOf('id="violations"')).toBeLessThan(text.indexOf('id="results"'));
    expect(text.indexOf('id="results"')).toBeLessThan(text.indexOf('id="isolation"'));
  });

  it('has a column per system, a word beside every mark, and the note of each outcome', () => {
    expect(rows).toContainEqual(['Path', 'hami-core', 'vgpu-manager', 'mps']);
    expect(rows).toContainEqual([
      'cuMemAllocManaged',
      'leaks granted 38 GiB, limit 20 GiB',
      'enforced granted 19 GiB, limit 20 GiB',
      'enforced granted 19 GiB, limit 20 GiB',
    ]);
    expect(rows).toContainEqual([
      ...['cuMemGetInfo(free = NULL)', 'HAMi-core#333', 'crash SIGSEGV native: code 0'],
      ...['same native: code 0', 'same native: code 0'],
    ]);
  });

  it('shows the reason if a pair has no number', () =>
    expect(rows.filter((cells) => cells.includes('the aggressor made no progress'))).toHaveLength(3));

  it("has a table of every tenant's means, with its limit", () => {
    const [row] = rows.filter(([tenant, system]) => tenant === 'tenant 2' && system === 'mps');
    expect(row?.[2]).toBe('30');
    expect(Number(row?.[4])).toBeCloseTo(30, 0);
  });

  it('labels every drawing', () => {
    const labels = parsed.tags.flatMap(({ name, attributes }) =>
      name === 'svg' ? (attributes['aria-label'] ?? []) : [],
    );
    const of = (start: string) => labels.filter((label) => label.startsWith(start));
    expect(of('IS-009, hami-core: loss of each victim')[0]).toContain(
      'copy beside PCIe: the aggressor made no progress',
    );
    expect(of('Share of the card over time: mps: %')[0]).toMatch(
      /tenant 1 from .*Across it: limit, 20 %\. Across it: limit, 30 %\. Across it: limit, 50 %\.$/,
    );
    expect(of('IS-011 Memory granted per path')[0]).toContain(
      'cuMemAllocManaged: leaks, granted 38 GiB under a limit of 20 GiB',
    );
  });

  it('is omitted without such metrics', () => expect(page(runDocument())).not.toContain('id="isolation"'));

  it('reports what was left out', () => {
    const strange = runDocument({ metrics: [result('IS-011', { details: { paths: [{ path: 'x' }] } })] });
    expect(page(strange)).toContain('environment, IS-011, paths: {&quot;path&quot;:&quot;x&quot;}');
  });
});

describe('the drawing of memory paths', () => {
  it('has bars as long as the granted amounts, with the limit at 100 %', () => {
    const [found] = memoryPathsOf(viewOf(isolationRun()));
    const marks = marksOf(pathBars(found?.paths ?? [], 'paths')?.drawing ?? expect.fail('no drawing'));
    const labels = textsOf(marks).filter((mark) => /^\d+$/.test(mark.text));
    const at = reading(labels, 'x');
    const end = (name: string) => {
      const bar = marks.find((mark) => tipOf(mark).startsWith(`${name}:`)) ?? expect.fail(`no ${name}`);
      return at(Math.max(...xsOf(bar)));
    };
    expect(end('cuMemAlloc')).toBeCloseTo(97.5, 0);
    expect(end('cuMemAllocManaged')).toBeCloseTo(190, 0);
    const limit = marks.find(({ attributes }) => attributes['stroke-dasharray']);
    expect(at(Math.max(...xsOf(limit ?? expect.fail('no limit'))))).toBeCloseTo(100, 0);
    expect(textsOf(marks).map((mark) => mark.text)).toEqual(expect.arrayContaining(['38 GiB', 'unsupported']));
  });
});

describe('the drawing of interference', () => {
  it('has a number in every measured cell, and none in the others', () => {
    const [map] = interferenceMaps(viewOf(isolationRun()));
    const marks = marksOf(interferenceDrawing(map ?? expect.fail('no map')) ?? expect.fail('no drawing'));
    const figures = textsOf(marks).filter((mark) => mark.text.endsWith('%'));
    expect(figures).toHaveLength(3 * 6 - 1);
    expect(figures.map((mark) => mark.text)).toContain('98 %');
  });
});

describe('isolation in Markdown', () => {
  it('matches its golden file', async () => {
    const view = viewOf(comparison);
    await expect(markdownReport(view, wordsOf(view))).toMatchFileSnapshot(
      join(import.meta.dirname, '../../golden/isolation.md'),
    );
  });

  it('draws shares from 0 to the whole card', () => {
    const share = (name: string, percent: number[]) => ({ name, limitPercent: null, binMs: 100, percent });
    const shares = [share('a', [0, 50, 99, 150]), share('b', [12, 12, 12, 12])];
    const markdown = isolationMarkdown(viewOf(runDocument({ metrics: [result('IS-008', { details: { shares } })] })));
    expect(markdown).toMatch(/\| a \|.*\| ▁▅██ \|/);
    expect(markdown).toMatch(/\| b \|.*\| ▁▁▁▁ \|/);
  });

  it('puts the violations before the advice and the results', () => {
    const view = viewOf(comparison);
    const markdown = markdownReport(view, wordsOf(view));
    expect(markdown.indexOf('## Violations')).toBeGreaterThan(0);
    for (const later of ['## Recommendations', '## Results', '## Isolation in detail'])
      expect(markdown.indexOf('## Violations')).toBeLessThan(markdown.indexOf(later));
  });
});

describe('untrusted text in the details', () => {
  const poisoned = (hostile: string) => {
    const poison = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(poison);
      if (typeof value !== 'object' || value === null) return value;
      const keep = new Set(['outcome', 'control']);
      return Object.fromEntries(
        Object.entries(value).map(([key, inner]) => [
          key,
          typeof inner === 'string' && !keep.has(key) ? `${hostile}${inner}` : poison(inner),
        ]),
      );
    };
    return isolationComparison(1, (one) => ({ ...one, details: poison(one.details) as Record<string, unknown> }));
  };
  const harmless = ['x', 'W'.repeat(80)].flatMap((one) => [...kinds(parse(page(poisoned(one))))]);

  it('creates no element of a page, and no Markdown markup', () =>
    fc.assert(
      fc.property(fc.constantFrom(...nasty), (hostile) => {
        const document = poisoned(hostile);
        expect([...kinds(parse(page(document)))].filter((kind) => !harmless.includes(kind))).toEqual([]);
        expect(isolationMarkdown(viewOf(document))).not.toMatch(/(?<!\\)(?:[<`]|\]\()/);
      }),
      { numRuns: 6, examples: [['<script>alert(1)</script>'], ['"><img src=x onerror=alert(1)>'], ['__proto__']] },
    ));
});
