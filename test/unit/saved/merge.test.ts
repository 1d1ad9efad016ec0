import { describe, expect, it } from 'vitest';
import type { ComparisonDocument, RunDocument } from '../../../lib/results/document.js';
import { csvReport } from '../../../lib/report/formats/csv.js';
import { answerOf } from '../../../lib/answer/answer.js';
import { reproduction } from '../../../lib/report/tables/reproduction.js';
import { viewOf } from '../../../lib/results/view.js';
import { merge } from '../../../lib/saved/merge.js';
import type { Source } from '../../../lib/saved/source.js';
import { comparison, measured } from '../report/fixtures.js';
import { card, runDocument } from '../run/fixtures.js';

const pair = (other: string, factor: number, id = 'OH-001', spec = other): ComparisonDocument =>
  comparison([
    { name: 'native', metrics: (round) => [measured(id, 5, round)] },
    { name: other, spec, metrics: (round) => [measured(id, 5 * factor, round)] },
  ]);

/** A document as if measured on another day. */
function later(document: ComparisonDocument, day = 2): ComparisonDocument {
  const at = (text: string) => text.replace('2026-01-01', `2026-01-0${day}`);
  const systems = document.systems.map((rounds) => rounds.map((run) => ({ ...run, startedAt: at(run.startedAt) })));
  return { ...document, startedAt: at(document.startedAt), systems };
}

const sources = (...documents: Source['document'][]): Source[] =>
  documents.map((document, index) => ({ file: `dir/${'abc'.charAt(index)}.json`, document }));

const merged = (...documents: Source['document'][]) => merge(sources(...documents)) as ComparisonDocument;

describe('merging', () => {
  it('does not change a single document', () => {
    const document = pair('mps', 0.8);
    expect(merged(document)).toBe(document);
  });

  it('combines systems of two comparisons, each with its own baseline', () => {
    const [a, b] = [pair('mps', 0.8), later(pair('hami-core', 1.2))];
    const document = merged(a, b);
    expect(document.plan.systems).toEqual(['native', 'mps', 'hami-core']);
    expect(document.systems.map((rounds) => rounds.length)).toEqual([6, 3, 3]);
    expect(document.effects.map(({ system, rounds, ratio }) => [system, rounds, ratio])).toEqual([
      ['mps', 3, a.effects[0]?.ratio],
      ['hami-core', 3, b.effects[0]?.ratio],
    ]);
  });

  it('narrows intervals with more rounds of the same systems', () => {
    const document = merged(pair('mps', 0.8), later(pair('mps', 0.81)));
    expect(document.effects).toHaveLength(1);
    expect(document.effects[0]).toMatchObject({ rounds: 6, verdict: 'faster' });
  });

  it('joins other metrics of the same systems', () => {
    const document = merged(pair('mps', 0.8), later(pair('mps', 0.9, 'OH-002')));
    expect(document.plan.metrics).toEqual(['OH-001', 'OH-002']);
    expect(document.effects.map(({ metric, rounds }) => [metric, rounds])).toEqual([
      ['OH-001', 3],
      ['OH-002', 3],
    ]);
  });

  it('keeps rounds paired if one document was interrupted', () => {
    const short = pair('mps', 0.8);
    const cut = { ...short, completed: false, systems: [short.systems[0] ?? [], (short.systems[1] ?? []).slice(0, 2)] };
    const document = merged(cut, later(pair('mps', 0.8)));
    expect(document.completed).toBe(false);
    // If the gap were closed, rounds of different days would be pairs, and their ratio would differ.
    expect(document.effects[0]).toMatchObject({ rounds: 5 });
    expect(document.effects[0]?.ratio).toBeCloseTo(0.8, 12);
  });

  it('combines runs without a verdict, named by their files', () => {
    const run = (startedAt: string, sha256: string): RunDocument => ({
      ...runDocument({ startedAt, metrics: [measured('OH-001', 5, 0)] }),
      system: { ...runDocument().system, layer: { path: '/x.so', sha256, exports: 1, active: true } },
    });
    const document = merged(run('2026-01-01T00:00:00.000Z', 'aa'), run('2026-01-02T00:00:00.000Z', 'bb'));
    expect(document.plan.systems).toEqual(['environment (a.json)', 'environment (b.json)']);
    expect(document.effects).toEqual([]);
    expect(document.warnings).toEqual(['a.json, b.json: measured separately, so there is no verdict on them.']);
  });
});

describe('documents that do not match are refused', () => {
  const changed = (change: (run: RunDocument) => Partial<RunDocument>): ComparisonDocument => {
    const document = later(pair('mps', 0.8));
    return {
      ...document,
      systems: document.systems.map((rounds) => rounds.map((run) => ({ ...run, ...change(run) }))),
    };
  };
  const cases: [what: string, other: Source['document'], says: RegExp][] = [
    [
      'another GPU model',
      changed(() => ({ gpu: [card({ name: 'NVIDIA Other' })] })),
      /of one GPU model but received NVIDIA Test in dir\/a\.json and NVIDIA Other in dir\/b\.json: report them separately/,
    ],
    [
      'a simulated GPU',
      changed(() => ({ gpu: [card({ simulated: true })] })),
      /received NVIDIA Test in .* and simulated NVIDIA Test in/,
    ],
    [
      'another driver',
      changed(({ driver }) => ({ driver: { ...driver, version: '570.1' } })),
      /of one driver but received 580\.1, CUDA 13\.0 in .* and 570\.1, CUDA 13\.0 in/,
    ],
    ['the same rounds', pair('mps', 0.8), /of different rounds but received the same ones in dir\/a\.json/],
    [
      'another system of the same name',
      later(pair('mps', 0.8, 'OH-001', 'mps:sm=50')),
      /in which mps is the same system but received different settings/,
    ],
    [
      'another baseline',
      later(
        comparison([
          { name: 'mps', metrics: (round) => [measured('OH-001', 5, round)] },
          { name: 'hami-core', metrics: (round) => [measured('OH-001', 5, round)] },
        ]),
      ),
      /of one baseline but received native and mps/,
    ],
  ];
  it.each(cases)('%s', (_what, other, says) => {
    expect(() => merged(pair('mps', 0.8), other)).toThrow(says);
  });
});

describe('a repeated merge', () => {
  const other = (name: string, native: number, value: number, day: number) =>
    later(
      comparison([
        { name: 'native', metrics: (round) => [measured('OH-001', native, round)] },
        { name, metrics: (round) => [measured('OH-001', value, round)] },
      ]),
      day,
    );
  // Three machines: the same system is twice as fast on one of them.
  const [x, y, z] = [other('hami-core', 10, 11, 1), other('mps', 5, 5, 2), other('fcsp', 5, 6, 3)];
  const outcome = ({ effects }: ComparisonDocument) =>
    effects.map(({ system, rounds, ratio, verdict }) => [system, rounds, ratio?.toFixed(6), verdict]);

  it('equals a single merge, in any order', () => {
    const at = (document: ComparisonDocument) => [...outcome(document)].sort();
    const atOnce = at(merged(x, y, z));
    expect(atOnce.map(([system, , , verdict]) => [system, verdict])).toEqual([
      ['fcsp', 'slower'],
      ['hami-core', 'slower'],
      ['mps', 'same'],
    ]);
    expect(at(merged(merged(x, y), z))).toEqual(atOnce);
    expect(at(merged(z, merged(y, x)))).toEqual(atOnce);
  });

  it('does not compare systems of different sessions', () => {
    const view = viewOf(merged(x, y));
    expect(answerOf(view.document).recommendations.flatMap(({ places }) => places ?? [])).toEqual([]);
    const csv = csvReport(view)
      .split('\r\n')
      .filter((line) => line.startsWith('mps'));
    expect(csv.map((line) => line.split(',').slice(0, 3).join())).toEqual(['mps,2,1', 'mps,2,2', 'mps,2,3']);
  });
});

describe('runs', () => {
  const run = (day: number, sha256: string, change: Partial<RunDocument> = {}): RunDocument => ({
    ...runDocument({ startedAt: `2026-01-0${day}T00:00:00.000Z`, metrics: [measured('OH-001', 5, 0)] }),
    system: { ...runDocument().system, layer: { path: '/x.so', sha256, exports: 1, active: true } },
    ...change,
  });

  it('from files with the same name are named by their folders', () => {
    const document = merge([
      { file: 'results/one/summary.json', document: run(1, 'aa') },
      { file: 'results/two/summary.json', document: run(2, 'bb') },
    ]) as ComparisonDocument;
    expect(document.plan.systems).toEqual(['environment (one/summary.json)', 'environment (two/summary.json)']);
    expect(viewOf(document).systems.map(({ isBaseline, isCompared }) => [isBaseline, isCompared])).toEqual([
      [false, false],
      [false, false],
    ]);
    expect(reproduction(viewOf(document)).split('\n')).toHaveLength(2);
  });

  it('that failed completely belong to their system', () => {
    const failed = run(2, 'aa');
    const { layer: _, ...unseen } = failed.system;
    expect(merged(run(1, 'aa'), { ...failed, system: unseen }).plan.systems).toEqual(['environment']);
  });

  it.each([
    [
      'another symbol path',
      { plan: { ...runDocument().plan, path: 'linked' } } as const,
      /of one set of measuring options but received .*path runtime.*path linked/,
    ],
    ['another number of iterations', { plan: { ...runDocument().plan, options: { iterations: 5 } } }, /iterations 5/],
    [
      'another memory',
      { gpu: [card({ memoryBytes: 2 ** 33 })] },
      /of one GPU memory and MIG mode but received 16 GiB, MIG disabled/,
    ],
    [
      'an instance of the same name and memory',
      { gpu: [card({ uuid: 'MIG-1' })] },
      /of one GPU memory and MIG mode but received 16 GiB, MIG disabled in .* and 16 GiB, MIG instance of \d+ multiprocessors/,
    ],
    [
      'another tier of the same metric',
      { plan: { ...runDocument().plan, tier: 'thorough' } } as const,
      /in which OH-001 of environment is measured in the same way but received tier quick and tier thorough/,
    ],
    [
      'another number of processes',
      { metrics: [{ ...measured('START-006', 5, 0), details: { largest: 50 } }] },
      /in which START-006 is measured in the same way but received largest 10 and largest 50/,
    ],
  ])('under %s are refused', (_what, change, says) => {
    const first = run(1, 'aa', {
      metrics: [measured('OH-001', 5, 0), { ...measured('START-006', 5, 0), details: { largest: 10 } }],
    });
    expect(() => merged(first, run(2, 'aa', change))).toThrow(says);
  });
});
