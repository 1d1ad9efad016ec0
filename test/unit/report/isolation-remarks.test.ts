/** Remarks without which the value of an isolation metric misleads. */
import { describe, expect, it } from 'vitest';
import { interferenceDrawing } from '../../../lib/report/charts/interference-map.js';
import { htmlReport } from '../../../lib/report/formats/html.js';
import { interferenceMaps, interferenceTable } from '../../../lib/report/isolation/interference.js';
import { isolationLines } from '../../../lib/report/isolation/lines.js';
import { isolationMarkdown } from '../../../lib/report/markdown/markdown-isolation.js';
import { answerOf } from '../../../lib/answer/answer.js';
import { wordsOf } from '../../../lib/report/text/words.js';
import type { ComparisonDocument, MetricResult } from '../../../lib/results/document.js';
import { viewOf } from '../../../lib/results/view.js';
import { marksOf, textsOf } from './charts-marks.js';
import { isolationComparison } from './isolation-fixtures.js';
import { result, runDocument } from '../run/fixtures.js';

type Details = Record<string, unknown>;

const runOf = (...metrics: [string, Details][]) =>
  viewOf(runDocument({ metrics: metrics.map(([id, details]) => result(id, { details })) }));

describe('shapes of load under a compute limit', () => {
  const linesOf = (smPercent: number, shares: Record<string, number | null>) =>
    isolationLines(
      runOf([
        'IS-003',
        {
          limits: Object.entries(shares).map(([shape, achievedPercent]) => ({
            ...{ smPercent, shape },
            ...(achievedPercent === null ? { unsupported: 'no graphs' } : { achievedPercent }),
          })),
        },
      ]),
    );

  it('have the share of each that differs from the limit, equal ones together', () =>
    expect(
      linesOf(30, {
        'back to back': 99.98,
        'one kernel, then a wait': 0,
        small: 83.88,
        a: 100.1,
        b: 100,
        c: 99.7,
        d: 0,
      }),
    ).toEqual(['IS-003: limit 30 %: 0 % (one kernel, then a wait; d), 84 % (small), 100 % (the other 4)']));

  it('have those that keep it too, without those that were not measured', () =>
    expect(linesOf(70, { a: 69.8, b: 63, c: 77, d: 72.4, e: 1.46, f: 62.9, g: null })).toEqual([
      'IS-003: limit 70 %: 1.5 % (e), 63 % (f), within 10 % of it (the other 4); 1 unsupported',
    ]));

  it('are counted if all get the same', () => {
    expect(linesOf(70, { a: 69.8, b: 70, c: 72 })).toEqual(['IS-003: limit 70 %: within 10 % of it (all 3 shapes)']);
    expect(linesOf(70, { a: 99.8, b: 100 })).toEqual(['IS-003: limit 70 %: 100 % (all 2 shapes)']);
    expect(linesOf(70, { a: 100 })).toEqual(['IS-003: limit 70 %: 100 % (a)']);
    expect(linesOf(70, { a: null })).toEqual(['IS-003: 1 unsupported']);
  });

  it('are the medians of several rounds, for each limit', () => {
    const achieved = [10, 30, 100];
    const document = isolationComparison(3, (one, _, round) => {
      const limits = [30, 70].map((smPercent) => ({ smPercent, shape: 'a', achievedPercent: achieved[round] }));
      return one.id === 'IS-003' ? { ...one, details: { limits } } : { ...one, details: {} };
    });
    expect(isolationLines(viewOf(document))).toContain(
      'mps, IS-003: limit 30 %: within 10 % of it (a); limit 70 %: 30 % (a)',
    );
  });
});

describe('limits that a metric sets instead of the system', () => {
  const shares = (limitPercent: number | null) => ({
    shares: [{ name: 'tenant 1 of 2', limitPercent, binMs: 100, percent: [50] }],
  });
  const path = { path: 'p', outcome: 'throttled', achievedPercent: 70 };
  const under = (limitPercent: number): [string, Details] => ['IS-012', { paths: [{ ...path, limitPercent }] }];
  const remarks = (view: ReturnType<typeof runOf>) =>
    isolationLines(view).filter((line) => /^(.*, )?IS-00[678]/.test(line));

  it("are named with the system's own", () =>
    expect(remarks(runOf(['IS-006', shares(50)], ['IS-007', shares(25)], ['IS-008', shares(25)], under(70)))).toEqual([
      "IS-006: two tenants with a limit of 50 % each, not the system's 70 %",
      "IS-007: four tenants with a limit of 25 % each, not the system's 70 %",
      "IS-008: four tenants with a limit of 25 % each, not the system's 70 %",
    ]));

  it("need no remark if they are the system's, or none is set", () => {
    expect(remarks(runOf(['IS-006', shares(50)], under(50)))).toEqual([]);
    expect(remarks(runOf(['IS-006', shares(null)], ['IS-007', shares(null)]))).toEqual([]);
  });

  it("are named alone if the system's is not in the document", () =>
    expect(remarks(runOf(['IS-007', shares(25)]))).toEqual(['IS-007: four tenants with a limit of 25 % each']));

  it('are compared with the limit that a comparison checked for the same system', () => {
    const document: ComparisonDocument = {
      ...isolationComparison(1, (one) => ({ ...one, details: one.id === 'IS-008' ? shares(25) : {} })),
      computeLimits: [
        {
          ...{ system: 'vgpu-manager', limitPercent: 25, label: 'throttled', achievedPercent: 25 },
          ...{ detail: '', binMs: 1, sharesPercent: [] },
        },
        {
          ...{ system: 'mps', limitPercent: 70, label: 'not checked', achievedPercent: null },
          ...{ detail: '', binMs: 1, sharesPercent: [] },
        },
      ],
    };
    expect(remarks(viewOf(document))).toEqual([
      'hami-core, IS-008: four tenants with a limit of 25 % each',
      "mps, IS-008: four tenants with a limit of 25 % each, not the system's 70 %",
    ]);
  });
});

describe('a victim that cannot keep up', () => {
  const row = (aggressor: string, degradationPercent: number | null, change: object = {}) => ({
    ...{ victim: 'v', aggressor, degradationPercent, ...change },
  });
  const overloaded = { overloaded: true, givenUp: 25 };
  const of = (...rows: object[]) => runOf(['IS-009', { interference: rows }]);

  it('has a queue, not a slow-down, and the largest slow-down beside the others', () =>
    expect(
      isolationLines(
        of(row('L2', 99, { overloaded: false }), row('issue slots', 12_887.5, overloaded), row('DRAM', 226.2)),
      ),
    ).toEqual([
      'IS-009: overloaded beside issue slots (12888 %): no slow-down but a queue, which grows for as long as it is watched; otherwise most 226.2 %, v beside DRAM',
    ]));

  it('has no slow-down if every neighbour overloads it', () =>
    expect(isolationLines(of(row('a', 900, overloaded), row('b', 1_000, overloaded)))).toEqual([
      'IS-009: overloaded beside b (1000 %), a (900 %): no slow-down but a queue, which grows for as long as it is watched',
    ]));

  it('is recognised in older documents by the requests that were given up', () => {
    expect(isolationLines(of(row('a', 900, { givenUp: 3 })))[0]).toContain('overloaded beside a (900 %)');
    // Requests that a busy machine delayed.
    expect(isolationLines(of(row('a', 90, { givenUp: 1, overloaded: false })))).toEqual([
      'IS-009: most 90 %, v beside a',
    ]);
  });

  it('is named in the answer, if the value is its queue', () => {
    const notes = (change: object) =>
      answerOf(
        isolationComparison(1, (one) =>
          one.id === 'IS-009'
            ? {
                ...one,
                value: 12_888,
                details: { interference: [row('issue slots', 12_888, change), row('DRAM', 200)] },
              }
            : one,
        ),
      ).cards.flatMap(({ lines }) => lines.flatMap(({ figures }) => figures.map(({ note }) => note)));
    const sentence = 'no slow-down but a queue: the victim was overloaded';
    expect(notes(overloaded)).toContainEqual(expect.stringContaining(sentence));
    expect(notes({ overloaded: false })).not.toContainEqual(expect.stringContaining(sentence));
  });

  it('is named in the table of interference', () => {
    const [map] = interferenceMaps(of(row('a', 900, overloaded), row('b', 12), row('c', null, { reason: 'idle' })));
    expect(interferenceTable(map ?? expect.fail('no map')).rows[0]?.cells).toEqual([
      'v',
      { text: 'overloaded (900 %)', sort: 900 },
      { text: '12 %', sort: 12 },
      { text: 'idle', sort: null },
    ]);
  });

  it('is named in the drawing of interference', () => {
    const [map] = interferenceMaps(of(row('a', 900, overloaded), row('b', 12)));
    const drawing = interferenceDrawing(map ?? expect.fail('no map')) ?? expect.fail('no drawing');
    expect(drawing.tips).toEqual([['v beside a: overloaded (900 %)', 'v beside b: 12 %']]);
    expect(textsOf(marksOf(drawing)).map(({ text }) => text)).toEqual(expect.arrayContaining(['overloaded', '12 %']));
  });
});

describe('remarks in other formats', () => {
  const hostile = '<b>`x`](y)';
  const change = (one: MetricResult): MetricResult =>
    one.id === 'IS-009'
      ? { ...one, details: { interference: [{ victim: 'v', aggressor: hostile, degradationPercent: 7 }] } }
      : { ...one, details: {} };
  const document = isolationComparison(1, change);

  it('come first, escaped', () => {
    const view = viewOf(document);
    expect(isolationMarkdown(view)?.split('\n')[0]).toBe(
      '- hami-core, IS-009: most 7 %, v beside \\<b\\>\\`x\\`\\](y)',
    );
    expect(htmlReport(view, wordsOf(view))).toContain('<li>mps: most 7 %, v beside &lt;b&gt;`x`](y)</li>');
  });
});
