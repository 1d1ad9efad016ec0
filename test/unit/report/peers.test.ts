import { describe, expect, it } from 'vitest';
import type { MetricResult } from '../../../lib/results/document.js';
import { peerDrawing } from '../../../lib/report/charts/peer-map.js';
import { htmlReport } from '../../../lib/report/formats/html.js';
import { markdownReport } from '../../../lib/report/formats/markdown.js';
import { fastestOf, peerMatrices } from '../../../lib/report/tables/peer-matrix.js';
import { wordsOf } from '../../../lib/report/text/words.js';
import { viewOf } from '../../../lib/results/view.js';
import { marksOf, textsOf, tipOf } from './charts-marks.js';
import { words } from './html-fixtures.js';
import { result, runDocument } from '../run/fixtures.js';

const pair = (from: number, to: number, gbs: number, more: Record<string, unknown> = {}) => ({
  ...{ from, to, connection: 'NVLink', gbs },
  ...more,
});
const pairs = [pair(2, 5, 400), pair(5, 2, 100), pair(2, 7, 392), pair(7, 2, 40, { connection: 'SYS' })];

const peers = (change: Partial<MetricResult>) =>
  viewOf(runDocument({ metrics: [result('NCCL-003', { category: 'nccl', unit: 'GB/s', ...change })] }));

describe('rates between GPUs', () => {
  const view = peers({ details: { pairs } });

  it('are a matrix of sources and targets', () => {
    const [matrix] = peerMatrices(view);
    expect(matrix?.gpus).toEqual([2, 5, 7]);
    expect(matrix?.cells.map((row) => row.map((cell) => cell?.gbs ?? null))).toEqual([
      [null, 400, 392],
      [100, null, null],
      [40, null, null],
    ]);
    expect(matrix?.cells[2]?.[0]?.connection).toBe('SYS');
    expect(matrix && fastestOf(matrix)).toBe(400);
  });

  it('are drawn with a number in every cell that has one, by their part of the fastest', () => {
    const marks = marksOf(peerDrawing(peerMatrices(view)[0] ?? expect.fail('no matrix')) ?? expect.fail('no drawing'));
    const figures = textsOf(marks).map(({ text }) => text);
    expect(figures.filter((text) => /^[\d.]+$/.test(text)).sort()).toEqual(['100', '392', '40', '400']);
    const tips = marks.map((mark) => tipOf(mark));
    expect(tips).toContain('GPU 2 to GPU 5: 400 GB/s, NVLink');
    const fill = (way: string) => marks.find((mark) => tipOf(mark).startsWith(way))?.attributes.fill;
    expect(fill('GPU 2 to GPU 5')).toBe('var(--heat-5)');
    expect(fill('GPU 7 to GPU 2')).toBe('var(--heat-1)');
  });

  it('are in HTML and Markdown', () => {
    expect(htmlReport(view, words)).toContain('GB/s from each GPU to each other one, ');
    const markdown = markdownReport(view, wordsOf(view));
    expect(markdown).toContain('## Rates between GPUs');
    expect(markdown).toMatch(/\| GPU 7 \| 40 \(SYS\) \| – \| – \|/);
  });

  it('say where copies go through the host', () => {
    const staged = [{ from: 0, to: 1, connection: 'PHB', hostStagedGbs: 20 }];
    const [matrix] = peerMatrices(
      peers({ status: 'unsupported', value: null, ci95: null, details: { pairs: staged } }),
    );
    expect(matrix?.cells[0]?.[1]).toEqual({ gbs: 20, connection: 'PHB, through the host' });
  });

  it.each([
    ['are not shown of an invalid result', { status: 'invalid', details: { pairs } }],
    ['are not read from what is no list', { details: { pairs: 'many' } }],
    ['are not read from rows of another shape', { details: { pairs: [{ from: -1, to: 'x', gbs: Infinity }, null] } }],
    ['are not there', { details: {} }],
  ] as [string, Partial<MetricResult>][])('%s', (_, change) => {
    expect(peerMatrices(peers(change))).toEqual([]);
    expect(markdownReport(peers(change), words)).not.toContain('Rates between GPUs');
  });
});
