import { describe, expect, it } from 'vitest';
import type { ComparisonDocument, RunDocument } from '../../lib/document.js';
import { merge, type Source } from '../../lib/saved/merge.js';
import { comparison, measured } from './report-fixtures.js';
import { card, runDocument } from './run-fixtures.js';

const pair = (other: string, factor: number, id = 'OH-001', spec = other): ComparisonDocument =>
  comparison([
    { name: 'native', metrics: (round) => [measured(id, 5, round)] },
    { name: other, spec, metrics: (round) => [measured(id, 5 * factor, round)] },
  ]);

/** Measured on another day. */
function later(document: ComparisonDocument, day = 2): ComparisonDocument {
  const at = (text: string) => text.replace('2026-01-01', `2026-01-0${day}`);
  const systems = document.systems.map((rounds) => rounds.map((run) => ({ ...run, startedAt: at(run.startedAt) })));
  return { ...document, startedAt: at(document.startedAt), systems };
}

const sources = (...documents: Source['document'][]): Source[] =>
  documents.map((document, index) => ({ file: `dir/${'abc'.charAt(index)}.json`, document }));

const merged = (...documents: Source['document'][]) => merge(sources(...documents)) as ComparisonDocument;

describe('merging', () => {
  it('leaves one document as it is', () => {
    const document = pair('mps', 0.8);
    expect(merged(document)).toBe(document);
  });

  it('puts systems of two comparisons side by side, each against the baseline it was measured with', () => {
    const [a, b] = [pair('mps', 0.8), later(pair('hami-core', 1.2))];
    const document = merged(a, b);
    expect(document.plan.systems).toEqual(['native', 'mps', 'hami-core']);
    expect(document.systems.map((rounds) => rounds.length)).toEqual([6, 3, 3]);
    expect(document.effects.map(({ system, rounds, ratio }) => [system, rounds, ratio])).toEqual([
      ['mps', 3, a.effects[0]?.ratio],
      ['hami-core', 3, b.effects[0]?.ratio],
    ]);
  });

  it('gives more rounds of the same systems more certainty', () => {
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

  it('keeps rounds beside each other where one document was interrupted', () => {
    const short = pair('mps', 0.8);
    const cut = { ...short, completed: false, systems: [short.systems[0] ?? [], (short.systems[1] ?? []).slice(0, 2)] };
    const document = merged(cut, later(pair('mps', 0.8)));
    expect(document.completed).toBe(false);
    // Were the gap closed, rounds of different days would be pairs, and their ratio not exactly this.
    expect(document.effects[0]).toMatchObject({ rounds: 5 });
    expect(document.effects[0]?.ratio).toBeCloseTo(0.8, 12);
  });

  it('sets runs side by side without a verdict, and tells them apart by their files', () => {
    const run = (startedAt: string, sha256: string): RunDocument => ({
      ...runDocument({ startedAt, metrics: [measured('OH-001', 5, 0)] }),
      system: { ...runDocument().system, layer: { path: '/x.so', sha256, exports: 1, active: true } },
    });
    const document = merged(run('2026-01-01T00:00:00.000Z', 'aa'), run('2026-01-02T00:00:00.000Z', 'bb'));
    expect(document.plan.systems).toEqual(['environment (a.json)', 'environment (b.json)']);
    expect(document.effects).toEqual([]);
    expect(document.warnings).toEqual(['a.json, b.json: measured apart, so that there is no verdict on them.']);
  });
});

describe('what does not belong together is refused', () => {
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
      /of one GPU model but received NVIDIA Test in dir\/a\.json and NVIDIA Other in dir\/b\.json: report them apart/,
    ],
    [
      'a simulated GPU',
      changed(() => ({ gpu: [card({ simulated: true })] })),
      /received NVIDIA Test in .* and simulated NVIDIA Test in/,
    ],
    [
      'another driver',
      changed(({ driver }) => ({ driver: { ...driver, version: '570.1' } })),
      /of one driver but received 580\.1, CUDA 13000 in .* and 570\.1, CUDA 13000 in/,
    ],
    ['the same rounds', pair('mps', 0.8), /of different rounds but received the same ones in dir\/a\.json/],
    [
      'another system of the same name',
      later(pair('mps', 0.8, 'OH-001', 'mps:sm=50')),
      /in which mps is one system but received different settings/,
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
