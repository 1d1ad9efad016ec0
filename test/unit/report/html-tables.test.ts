/** The contents of a page's tables, cell by cell. */
import { describe, expect, it } from 'vitest';
import type { Effect } from '../../../lib/results/document.js';
import { htmlReport } from '../../../lib/report/formats/html.js';
import { markdownReport } from '../../../lib/report/formats/markdown.js';
import type { ResultDocument } from '../../../lib/results/kinds.js';
import { viewOf } from '../../../lib/results/view.js';
import { comparison as measuredComparison, measured } from './fixtures.js';
import { comparisonOf, FAILED, LIMIT, small, words } from './html-fixtures.js';
import { rowsIn } from './html-page.js';

const page = (document: ResultDocument) => htmlReport(viewOf(document), words);
const comparison = comparisonOf(small);
const text = page(comparison);
const [native, hami, mps] = small.systems as [string, string, string];

const rowsOf = (id: string, section: string, of = text) =>
  rowsIn(of, section).filter(({ cells: [first = ''] }) => first === id || first.startsWith(`${id} `));
const rowOf = (id: string, section: string, of = text) => {
  const [row] = rowsOf(id, section, of);
  if (!row) throw new Error(`Expected ${section} to have a row of ${id}.`);
  return row;
};
const effectOf = (id: string, system: string) =>
  comparison.effects.find((effect) => effect.metric === id && effect.system === system) as Effect;
const inTable = (id: string) => rowsOf(id, 'results').at(-1);

describe('the results', () => {
  it('have a value, and against the baseline a size and a verdict, for every system', () => {
    const [head] = rowsIn(text, 'results').filter(({ cells }) => cells[0] === 'Metric').slice(-1); // prettier-ignore
    const compared = ['Value', `against ${native}`, 'Verdict'];
    expect(head?.cells).toEqual(['Metric', 'Unit', 'Value', ...compared, ...compared]);
    const cells = inTable('OH-007')?.cells ?? [];
    expect(cells).toHaveLength(9);
    expect([cells[5], cells[8]]).toEqual([hami, mps].map((system) => effectOf('OH-007', system).verdict));
  });

  it('show why an effect is invalid, whether or not it has a size', () => {
    const invalid = comparison.effects.filter(({ verdict }) => verdict === 'invalid');
    expect(invalid.length).toBeGreaterThan(1);
    for (const { metric, system, reason } of invalid)
      expect(inTable(metric)?.cells[system === hami ? 5 : 8]).toBe(`invalid ${reason}`);
    const unlike = (largest: number) => (round: number) => [
      { ...measured('START-006', 800, round), details: { largest } },
    ];
    const systems = [
      { name: native, metrics: unlike(8) },
      { name: hami, metrics: unlike(4) },
    ];
    const single = page(measuredComparison(systems, 1));
    expect(rowOf('START-006', 'results', single).cells.at(-1)).toMatch(/^invalid largest is 4 against 8/);
  });

  it('show the number of rounds of a value, unless it covers all', () => {
    const id = comparison.plan.metrics[FAILED.metric] as string;
    expect(inTable(id)?.cells[6]).toMatch(/ 2 of 3 rounds$/);
    expect(inTable(id)?.cells[3]).not.toContain('rounds');
    expect(rowOf(id, 'not-measured').cells).toEqual([id, mps, 'failed', FAILED.reason, '1 of 3']);
  });

  it('are sorted by size, ratios and differences separately', () => {
    const [ratio, difference] = [effectOf('OH-007', mps), effectOf('X-007', mps)];
    expect(inTable('OH-007')?.attributes[7]).toEqual({ class: 'num', 'data-sort': String(ratio.ratio) });
    const sort = { 'data-sort': String(difference.difference), 'data-scale': 'us' };
    expect(inTable('X-007')?.attributes[7]).toEqual({ class: 'num', ...sort });
  });

  it('have as many systems per table as fit side by side, with the baseline in each', () => {
    const systems = ['native', 'a', 'b', 'c', 'd', 'e'];
    const groups = rowsIn(page(comparisonOf({ ...small, metrics: 1, systems })), 'results')
      .filter(({ attributes: [first] }) => first?.colspan === '2')
      .map(({ cells }) => cells.slice(1));
    expect(groups).toEqual([
      ['native', 'a', 'b'],
      ['native', 'c', 'd'],
      ['native', 'e'],
    ]);
  });

  it('contain the numbers of a drawn line', () => {
    expect(rowsIn(text, 'results').find(({ cells }) => cells[0] === '4' && cells[1] === '4.000')?.cells).toEqual(['4', '4.000', '8.000', '12.00']); // prettier-ignore
  });
});

describe('the other tables', () => {
  it('count severe outliers among all', () =>
    expect(rowOf('OH-007', 'consistency').cells.at(-1)).toBe('12 9 mild, 3 severe, of 3000'));

  it('have no outliers for a metric without samples', () => {
    const metrics = (round: number) => [{ ...measured('OH-006', 600, round), stats: null }];
    const document = measuredComparison([{ name: native, metrics }], 3);
    expect(rowOf('OH-006', 'consistency', page(document)).cells.at(-1)).toBe('–');
    expect(markdownReport(viewOf(document), words)).toMatch(/^\| OH-006 .*\| – \|$/m);
  });

  it('have the configured limit, and the achieved share', () =>
    expect(rowOf(hami, 'compute-limits').cells.slice(0, 4)).toEqual([hami, String(LIMIT), '31.20', 'throttled']));

  it('have whether a difference is shown, whether it counts, and the verdict', () => {
    const { established, verdict } = effectOf('OH-007', hami);
    const [shown, size, said] = rowOf('OH-007', 'statistics').cells.slice(-3);
    expect([shown, said]).toEqual([established ? 'shown' : 'not shown', verdict]);
    expect(size).not.toBe('');
  });

  it('distinguish failed from unchecked, and leave out what passed', () =>
    expect(rowsOf(native, 'health').map(({ cells }) => cells)).toEqual([
      [native, 'before', 'idle', 'not checked', '3', 'NVML does not say'],
      [native, 'after', 'temperature', 'failed', '3', 'hot'],
    ]));
});

describe('the head of a page', () => {
  const titleOf = (document: ResultDocument) => /<h1>(.*?)<\/h1>/.exec(page(document))?.[1];

  it('mentions a baseline only if systems were compared with it', () => {
    expect(titleOf(comparison)).toBe('NVIDIA Test: hami-core, mps against native');
    const apart = { ...comparison, effects: [], plan: { ...comparison.plan, order: [] } };
    expect(titleOf(apart)).toBe('NVIDIA Test: native, hami-core, mps');
  });
});

describe('shortened names', () => {
  it('stay distinct, and count their own verdicts', () => {
    const begin = 'W'.repeat(200);
    const long = comparisonOf({ ...small, systems: ['native', `${begin}a`, `${begin}b`] });
    const tallies = /<dl class="tallies">(.*?)<\/dl>/s.exec(page(long))?.[1] ?? '';
    const names = [...tallies.matchAll(/<dt>(.*?)<\/dt>/g)].map(([, name]) => name);
    expect(names).toEqual([`${'W'.repeat(119)}…`, `${'W'.repeat(119)}… (2)`]);
    const counts = [...tallies.matchAll(/<\/span> (\d+)<\/li>/g)].map(([, count]) => Number(count));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(long.effects.length);
  });
});
