/** Published figures beside ours. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { ComparisonDocument } from '../../../lib/results/document.js';
import { viewOf } from '../../../lib/results/view.js';
import { documentIn } from '../../../lib/saved/read.js';
import { studyCsv } from '../../../lib/study/study-page.js';
import { measuredTables, type MeasuredStep } from '../../../lib/study/study-rows.js';
import type { Study, StudyRow } from '../../../lib/study/study-settings.js';

const file = new URL('../../../bench/results/h100/2026-11-27-60850133/costs.json.gz', import.meta.url);
const view = viewOf(documentIn('costs.json', gunzipSync(readFileSync(file)).toString()).document);
const outcome = { command: ['compare'], exitCode: 0, startedAt: '2026-11-27T00:00:00.000Z', seconds: 1, found: [] };
const measured: MeasuredStep = { ...outcome, name: 'costs', status: 'ok', view };
const card = { name: 'RTX 3080', computeCapability: '8.6', multiprocessors: 68, maxSmClockMhz: 2100 };

const columns = new Map([
  ['native', 'native'],
  ['HAMi-core', 'hami-core'],
  ['FCSP', 'fcsp'],
]);

function cellsOf(row: Partial<StudyRow>, steps: readonly MeasuredStep[] = [measured]) {
  const whole: StudyRow = { name: 'row', unit: 'us', ...row };
  const study = { source: { card }, tables: [{ title: 'T', columns, rows: [whole] }] } as unknown as Study;
  const tables = measuredTables(study, steps);
  const [found] = tables[0]?.rows ?? [];
  if (!found) throw new Error('there is no row');
  return { ...found, tables };
}

const valueIn = (id: string, system: string) =>
  (view.document as ComparisonDocument).systems.flat().find((round) => round.system.name === system)?.metrics.find((each) => each.id === id)?.value; // prettier-ignore

describe('a row', () => {
  const published = new Map([
    ['native', '6.0'],
    ['HAMi-core', '12.0'],
    ['FCSP', 'TBD'],
  ]);

  it('has our values in its own unit beside the published ones, and ratios of both', () => {
    const { cells } = cellsOf({ metric: 'OH-001', unit: 'ns', published });
    const [native, hami, fcsp] = cells;
    expect(native).toMatchObject({ published: '6.0', publishedRatio: null, ratio: null, reason: null });
    expect(native?.value).toBeCloseTo(1_000 * (valueIn('OH-001', 'native') ?? NaN), 6);
    expect(hami).toMatchObject({ publishedRatio: 2 });
    expect(hami?.ratio).toBeCloseTo((valueIn('OH-001', 'hami-core') ?? NaN) / (valueIn('OH-001', 'native') ?? NaN), 6);
    expect(fcsp).toMatchObject({ published: 'TBD', publishedRatio: null, value: null, agrees: null });
    expect(fcsp?.reason).toBe('no system fcsp was measured');
  });

  it('has the ratio of the values where more is better too', () => {
    const [native, hami] = cellsOf({ metric: 'LLM-001', unit: 'TFLOPS' }).cells;
    expect(hami?.ratio).toBeCloseTo((hami?.value ?? NaN) / (native?.value ?? NaN), 6);
  });

  it('is the difference to the first system where the metric is one', () => {
    const [native, hami] = cellsOf({ metric: 'OH-010', unit: '%' }).cells;
    expect(native).toMatchObject({ value: null, reason: expect.stringContaining('native arm') });
    const effect = view.effects.find(({ metric, system }) => metric === 'OH-010' && system === 'hami-core');
    expect(hami).toMatchObject({ value: effect?.difference, reason: null });
    expect(hami?.value).toBeGreaterThan(0);
  });

  it('gives no percentile of too few samples', () => {
    const [native] = cellsOf({ metric: 'START-001', stat: 'p999' }).cells;
    expect(native).toMatchObject({ value: null, reason: expect.stringMatching(/^\d+ samples a round are too few/) });
  });

  const starts = (processes: number) => ({
    metric: 'START-006',
    unit: 'ms',
    detail: `starts[processes=${processes}].meanMs`,
  });

  it('has a number of the details of a metric, of the row that it names', () => {
    const [alone, together] = [1, 10].map((processes) => cellsOf(starts(processes)).cells);
    const recorded = view.document as ComparisonDocument;
    const [native] = recorded.systems
      .flat()
      .flatMap(({ system, metrics }) =>
        system.name === 'native' ? metrics.filter(({ id }) => id === 'START-006') : [],
      );
    expect(together?.[0]).toMatchObject({ value: native?.value, reason: null, ci95: null, ratio: null });
    expect(alone?.[0]?.value).toBeLessThan(native?.value ?? 0);
    expect(cellsOf({ ...starts(1), detail: 'largest', unit: '' }).cells[0]?.value).toBe(10);
  });

  it('has the reason of a row of details that has no numbers', () => {
    const detail = 'missing[name=cuCtxGetDevice_v2].overheadNs';
    const [, hami] = cellsOf({ metric: 'OH-005', unit: 'ns', detail }).cells;
    expect(hami).toMatchObject({ value: null, reason: expect.stringContaining('is not given out by') });
  });

  it.each<[string, Partial<StudyRow>, readonly MeasuredStep[] | undefined, string]>([
    ['a row that the details lack', starts(50), undefined, 'its details have no number at starts[processes=50].meanMs'],
    ['no metric', {}, undefined, 'no metric of ours answers it'],
    ['another unit', { metric: 'OH-001', unit: 'GB/s' }, undefined, 'OH-001 is in us, not in GB/s'],
    ['a metric that nobody measured', { metric: 'OH-999' }, undefined, 'no step measured it'],
    ['a step that was left out', { metric: 'OH-001', step: 'other' }, undefined, 'its step was left out'],
    [
      'a step that is unsupported',
      { metric: 'OH-001' },
      [{ ...measured, status: 'unsupported', reason: 'missing here: podman', view: null }],
      'step costs is unsupported: missing here: podman',
    ],
  ])('says why there is no value: %s', (_, row, steps, says) => {
    const [first] = cellsOf(row, steps).cells;
    expect(first).toMatchObject({ value: null, reason: says });
  });

  it('names published figures that the card of the source cannot reach', () => {
    const attention = { metric: 'LLM-001', unit: 'TFLOPS' };
    const beyond = cellsOf({ ...attention, published: new Map([['native', '2397.97']]) });
    expect(beyond.impossible).toEqual(['native: 2398 TFLOPS, and RTX 3080 cannot do more than 146.2']);
    expect(cellsOf({ ...attention, published: new Map([['native', '80']]) }).impossible).toEqual([]);
    expect(cellsOf({ ...attention, impossible: 'a card of one GPU' }).impossible).toEqual(['a card of one GPU']);
  });

  it('has no peak of a card of which only the name is known', () => {
    const whole = { name: 'row', metric: 'LLM-001', unit: 'TFLOPS', published: new Map([['native', '2397.97']]) };
    const source = { card: { name: 'A card' } };
    const [table] = measuredTables({ source, tables: [{ title: 'T', columns, rows: [whole] }] } as unknown as Study, [measured]); // prettier-ignore
    expect(table?.rows[0]?.impossible).toEqual([]);
  });

  it('is a line per column in the CSV, in which no cell is a formula', () => {
    const { tables } = cellsOf({ name: '=HYPERLINK("x")', metric: 'OH-001', published });
    const lines = studyCsv(tables).trim().split('\r\n');
    expect(lines).toHaveLength(4);
    expect(lines[0]).toMatch(/^table,row,unit,column,published,/);
    expect(lines[2]).toMatch(/^T,"'=HYPERLINK\(""x""\)",us,HAMi-core,12\.0,2,\d/);
  });
});
