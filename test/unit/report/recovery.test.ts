/** The table of faults in reports: what was told, how soon, and whether and when the tenant recovered. */
import { describe, expect, it } from 'vitest';
import type { MetricResult } from '../../../lib/results/document.js';
import { viewOf } from '../../../lib/results/view.js';
import { htmlReport } from '../../../lib/report/formats/html.js';
import { leftOutDetails } from '../../../lib/report/isolation/left-out.js';
import { recoveryMatrix } from '../../../lib/report/isolation/recovery.js';
import { markdownReport } from '../../../lib/report/formats/markdown.js';
import { words } from './html-fixtures.js';
import { kinds, parse, rowsIn } from './html-page.js';
import { isolationComparison } from './isolation-fixtures.js';
import { result, runDocument } from '../run/fixtures.js';

const CODE = 'CUDA_ERROR_ILLEGAL_ADDRESS (700)';
const MIB = 2 ** 20;

const errors = (id: string, details: Record<string, unknown>, change: Partial<MetricResult> = {}): MetricResult => ({
  ...result(id, { name: id, unit: 'us', details, ...change }),
  category: 'error-recovery',
});

const detections = (latencyUs: number | null) => ({
  detections: [
    { fault: 'illegal address', codes: [CODE], latencyUs },
    { fault: 'trap', codes: ['CUDA_ERROR_LAUNCH_FAILED (719)'], latencyUs: 470 },
  ],
});

const recovery = (fault: string, change: object = {}) => ({
  fault,
  way: 'new process',
  told: ['SIGKILL'],
  processes: 2,
  recovered: 2,
  recoveryUs: 30_500,
  mostTries: 1,
  refusals: [],
  missingBytes: 0,
  ...change,
});

const recoveries = (killed: object = {}) => ({
  recoveries: [
    recovery('illegal address', { told: [CODE] }),
    recovery('SIGKILL inside an allocation', killed),
    recovery('illegal address', {
      way: 'same process, context reset',
      told: [CODE],
      recovered: 0,
      recoveryUs: null,
      refusals: ['cuDevicePrimaryCtxRetain returned 700'],
    }),
  ],
});

const scenarios = (outcome: string) => ({
  probes: [
    { probe: 'pool exhausted', issue: '', outcome, native: 'code 2', at: 'cuMemAllocAsync' },
    { probe: 'state file deleted', issue: '', outcome: 'not run', native: '' },
  ],
});

const all = (latencyUs: number | null, killed: object, outcome: string): MetricResult[] => [
  errors('ERR-001', detections(latencyUs)),
  errors('ERR-002', recoveries(killed)),
  errors('ERR-003', scenarios(outcome)),
];

const run = runDocument({ metrics: all(450, { recovered: 1, missingBytes: 64 * MIB, mostTries: 3 }, 'hang') });

describe('the table of faults', () => {
  it('joins what three metrics say of a fault', () => {
    const matrix = recoveryMatrix(viewOf(run));
    expect(matrix?.metrics).toEqual(['ERR-001', 'ERR-002', 'ERR-003']);
    expect(matrix?.rows).toEqual([
      {
        fault: 'illegal address',
        cells: [
          {
            told: CODE,
            soonUs: 450,
            recovered: { state: 'good', word: 'yes', note: 'after 30.50 ms more than a start' },
          },
        ],
      },
      { fault: 'trap', cells: [{ told: 'CUDA_ERROR_LAUNCH_FAILED (719)', soonUs: 470, recovered: null }] },
      {
        fault: 'SIGKILL inside an allocation',
        cells: [
          {
            told: 'SIGKILL',
            soonUs: null,
            recovered: {
              state: 'bad',
              word: '1 of 2',
              note: 'after 30.50 ms more than a start; 67.11 MB of memory not given back; up to 3 tries',
            },
          },
        ],
      },
      {
        fault: 'illegal address: same process, context reset',
        cells: [
          {
            told: CODE,
            soonUs: null,
            // Not judged: nobody promises that it works.
            recovered: { state: 'plain', word: 'no', note: 'cuDevicePrimaryCtxRetain returned 700' },
          },
        ],
      },
      {
        fault: 'pool exhausted',
        cells: [{ told: 'hang in cuMemAllocAsync', soonUs: null, recovered: { state: 'bad', word: 'no', note: '' } }],
      },
    ]);
  });

  it('calls a tenant that works with less memory partly recovered', () => {
    const document = runDocument({ metrics: [errors('ERR-002', recoveries({ missingBytes: 64 * MIB }))] });
    const row = recoveryMatrix(viewOf(document))?.rows.find(({ fault }) => fault.startsWith('SIGKILL'));
    expect(row?.cells[0]?.recovered).toMatchObject({ state: 'bad', word: 'partly' });
  });

  it('has a median over rounds, and a column for each system', () => {
    const document = isolationComparison(3, (one, system, round) => {
      if (one.id === 'IS-001') return errors('ERR-001', detections(100 * (system + 1) + 10 * round));
      return one.id === 'IS-003' && system === 2 ? errors('ERR-002', recoveries()) : one;
    });
    const matrix = recoveryMatrix(viewOf(document));
    expect(matrix?.rows[0]?.cells.map((cell) => cell?.soonUs)).toEqual([110, 210, 310]);
    const killed = matrix?.rows.find(({ fault }) => fault.startsWith('SIGKILL'));
    expect(killed?.cells.map((cell) => cell?.recovered?.word ?? null)).toEqual([null, null, 'yes']);
  });

  it('is on the page, with words beside its marks', () => {
    const text = htmlReport(viewOf(run), words);
    const rows = rowsIn(text, 'isolation').map(({ cells }) => cells);
    expect(rows).toContainEqual(['Fault', 'Told', 'How soon', 'Recovered']);
    expect(rows).toContainEqual(['illegal address', CODE, '450.0 us', 'yes after 30.50 ms more than a start']);
    expect(rows).toContainEqual(['trap', 'CUDA_ERROR_LAUNCH_FAILED (719)', '470.0 us', '–']);
    const hostile = { told: ['<script>alert(1)</script>'], refusals: ['" onload="x'] };
    const attacked = runDocument({ metrics: all(450, { recovered: 1, mostTries: 3, ...hostile }, '<b>') });
    expect(kinds(parse(htmlReport(viewOf(attacked), words)))).toEqual(kinds(parse(text)));
  });

  it('is in Markdown, a table per system', () => {
    const text = markdownReport(viewOf(run), words);
    expect(text).toContain('ERR-001, ERR-002, ERR-003 Faults, and recovery from them');
    expect(text).toContain(String.raw`| SIGKILL inside an allocation | SIGKILL |`);
    expect(text).toContain(
      '**1 of 2** (after 30.50 ms more than a start; 67.11 MB of memory not given back; up to 3 tries)',
    );
  });

  it('shows a tenant that did not recover, whose metric has no value', () => {
    const lost = recoveries({ processes: 1, recovered: 0, recoveryUs: null, refusals: ['Timed out after 60 s'] });
    const document = runDocument({ metrics: [errors('ERR-002', lost, { status: 'failed', value: null })] });
    const row = recoveryMatrix(viewOf(document))?.rows.find(({ fault }) => fault.startsWith('SIGKILL'));
    expect(row?.cells[0]?.recovered).toEqual({ state: 'bad', word: 'no', note: 'Timed out after 60 s' });
  });

  it('is not there without such details, and shows rows of another form unchanged', () => {
    expect(recoveryMatrix(viewOf(isolationComparison()))).toBeNull();
    const odd = { recoveries: [{ fault: 'x', way: 3 }], detections: 'none' };
    const view = viewOf(runDocument({ metrics: [errors('ERR-002', odd)] }));
    expect(recoveryMatrix(view)).toBeNull();
    expect(leftOutDetails(view)).toHaveLength(2);
  });
});
