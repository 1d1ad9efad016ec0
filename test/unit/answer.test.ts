/** The answer of a comparison: what it concludes from effects, causes and violations, and what it leaves open. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { answerOf, answered } from '../../lib/answer/answer.js';
import { brokenBy, QUOTA_CAUSES } from '../../lib/answer/violation-causes.js';
import { openText } from '../../lib/report/text/answer-text.js';
import { briefReport } from '../../lib/report/formats/brief.js';
import { tallies } from '../../lib/report/tables/tally.js';
import { sections } from '../../lib/report/sections.js';
import { answerSchema } from '../../lib/results/answer-schema.js';
import {
  type CallEffect,
  type ComparisonDocument,
  comparisonDocumentSchema,
  type Effect,
} from '../../lib/results/document.js';
import { viewOf } from '../../lib/results/view.js';
import { upgraded } from '../../lib/results/upgraded.js';
import { comparison, everyKind, measured, without } from './report/fixtures.js';

const recorded = (file: string): ComparisonDocument =>
  upgraded(
    JSON.parse(readFileSync(join(fileURLToPath(new URL('../../bench/results/h200', import.meta.url)), file), 'utf8')),
  ) as ComparisonDocument;

/** What pairs of a call within one process showed of system a. */
const inProcess = (verdict: CallEffect['verdict']): CallEffect => ({
  ...{ metric: 'OH-002', system: 'a', call: 'cuMemAlloc 2 MiB', owner: '/lib/a.so', intercepted: true },
  ...{
    interceptedOn: ['runtime'],
    rounds: 5,
    overheadNs: 359,
    overheadCi95: [-1_538, 2_257],
    bareNs: 40_000,
    p: 0.5,
    verdict,
  },
});

/** Values of three systems by metric. */
const three = (values: Record<string, [number, number, number]>): ComparisonDocument =>
  comparison(
    ['native', 'a', 'b'].map((name, i) => ({
      name,
      metrics: (round: number) => Object.entries(values).map(([id, each]) => measured(id, each[i] ?? 0, round)),
    })),
  );

type Judged = Partial<Effect> & { established?: boolean; relevance?: string | null };

const withEffects = (document: ComparisonDocument, change: (effect: Effect) => Judged): ComparisonDocument => ({
  ...document,
  effects: document.effects.map((effect) => ({ ...effect, ...change(effect) })),
});

const pair = (document: ComparisonDocument, metric: string, verdict: Effect['verdict']): Effect & Judged => ({
  ...(document.effects.find((effect) => effect.metric === metric) as Effect),
  ...{ system: 'a', baseline: 'b', verdict, established: verdict === 'slower' || verdict === 'faster' },
});

const withPairs = (document: ComparisonDocument, pairs: readonly Effect[]): ComparisonDocument =>
  ({ ...document, pairs }) as ComparisonDocument;

const figure = (document: ComparisonDocument, system: string, metric: string) =>
  answerOf(document)
    .cards.find((card) => card.system === system)
    ?.lines.flatMap(({ figures }) => figures)
    .find((one) => one.metric === metric);

const advice = (document: ComparisonDocument, use: string) =>
  answerOf(document).recommendations.find((one) => one.use === use) ?? expect.fail(`no advice for ${use}`);

describe('a card', () => {
  it('has five lines, and native has none', () => {
    const { cards } = answerOf(everyKind());
    expect(cards.map(({ system }) => system)).toEqual(['hami-core', 'mps']);
    for (const { lines } of cards)
      expect(lines.map(({ question }) => question)).toEqual(['start', 'calls', 'program', 'limits', 'neighbours']);
  });

  it('uses one source of a figure for all systems', () => {
    const document = three({ 'START-001': [250, 430, 260], 'OH-004': [2e5, 4e5, 2e5] });
    const starts = answerOf(document).cards.flatMap(({ lines }) => lines[0]?.figures.map(({ metric }) => metric));
    expect(starts).toEqual(['START-001', 'START-001']);
  });

  it('says "at least" only of an effect beyond what counts, and doubts one that straddles it', () => {
    const document = three({ 'START-001': [250, 430, 260] });
    const notes = (relevance: 'beyond' | 'straddles') =>
      figure(
        withEffects(document, () => ({ verdict: 'slower', established: true, relevance })),
        'a',
        'START-001',
      )?.note;
    expect(notes('beyond')).toMatch(/at least \d+ %/);
    expect(notes('straddles')).toContain('perhaps too little to matter');
    expect(notes('straddles')).not.toContain('at least');
  });

  it('calls a real difference within what counts the same', () => {
    const same = { verdict: 'same', established: true, relevance: 'within' } as const;
    const one = figure(
      withEffects(three({ 'START-001': [250, 252, 250] }), () => same),
      'a',
      'START-001',
    );
    expect(one).toMatchObject({ word: 'same', note: expect.stringContaining('real, but too small to count') });
  });

  it.each([
    ['inconclusive', 'same', 'same', 'the call alone +0.359 us'],
    ['slower', 'same', 'same', 'the call alone +0.359 us'],
    ['slower', 'inconclusive', 'slower', null],
    ['inconclusive', 'inconclusive', 'inconclusive', null],
  ] as const)('has of a pair that is %s and a metric that is %s: %s', (ofPair, ofMetric, word, note) => {
    const document = withEffects(three({ 'OH-002': [40, 40.4, 40] }), () => ({ verdict: ofMetric }));
    const one = figure({ ...document, callEffects: [inProcess(ofPair)] }, 'a', 'OH-002');
    expect(one).toMatchObject({ word, note: note === null ? null : expect.stringContaining(note) });
  });
});

describe('a cause', () => {
  const causes = (values: Record<string, [number, number, number]>) => answerOf(three(values)).causes;

  it('is a phase that explains the metrics that contain it', () => {
    const found = causes({
      'OH-004': [200_000, 380_000, 200_000],
      'START-001': [250, 430, 250],
      'START-002': [90, 270, 90],
      'START-003': [100, 100, 100],
    });
    expect(found).toEqual([{ system: 'a', phases: ['START-002'], what: 'cuInit', explains: ['OH-004', 'START-001'] }]);
  });

  it('is not claimed if more than what counts is left', () =>
    expect(causes({ 'START-001': [250, 480, 250], 'START-002': [90, 270, 90] })).toEqual([]));

  it('is several phases if one alone leaves too much', () => {
    const found = causes({
      'START-001': [250, 430, 250],
      'START-002': [90, 180, 90],
      'START-003': [100, 190, 100],
    });
    expect(found.map(({ phases }) => [...phases].sort())).toEqual([['START-002', 'START-003']]);
  });
});

describe('violations', () => {
  it('have one line per cause', () => {
    const path = (metric: string, name: string, granted: string, seen: string) => ({
      ...{ system: 'x', metric },
      detail: `${name}: ${granted} granted under a limit of 4 GiB; NVML shows ${seen}`,
    });
    const context = ['a', 'b', 'c'].map((name) => path('IS-011', name, '4 GiB', '4.49 GiB'));
    const found = brokenBy([
      ...context,
      path('IS-001', 'a', '4 GiB', '4.49 GiB'),
      path('IS-011', 'd', '5 GiB', '5.5 GiB'),
    ]);
    expect(found.map(({ cause, text }) => [cause, text])).toEqual([
      ['context-not-counted', 'counts no context memory: 3 paths exceed 4 GiB by 0.49 GiB'],
      ['path-not-limited', 'does not limit 1 way to allocate: 5 GiB granted under 4 GiB'],
    ]);
    expect(found[0]).toMatchObject({ items: ['a', 'b', 'c'], metrics: ['IS-001', 'IS-011'], limit: 4, unit: 'GiB' });
  });

  it('of a recorded comparison are a few lines', () => {
    const document = recorded('2026-11-22-ecd50cb/compared-isolation.json');
    expect(document.violations).toHaveLength(28);
    expect(answerOf(document).violations.map(({ system, cause }) => `${system} ${cause}`)).toEqual([
      ...['hami-50 path-not-limited', 'hami-50 memory-undercounted'],
      ...['vgpu-aimd-50 path-not-limited', 'vgpu-aimd-50 fault-reaches-neighbour', 'vgpu-aimd-50 context-not-counted'],
      ...['mps-50 fault-reaches-neighbour', 'mps-50 memory-undercounted', 'mps-50 memory-readable'],
    ]);
  });
});

describe('a soft limit that does not hold', () => {
  it('is a cause of its own, and rules out strict quotas', () => {
    const detail = 'soft limit: a tenant that held 3 GiB within 4 GiB lost them to one above its own (evicted)';
    const [broken, ...others] = brokenBy([{ system: 'mps', metric: 'IS-001', detail }]);
    expect(others).toEqual([]);
    expect(broken).toMatchObject({
      cause: 'soft-limit-not-kept',
      text: 'does not keep soft memory limits: a tenant that held 3 GiB within 4 GiB lost them to one above its own (evicted)',
      metrics: ['IS-001'],
    });
    expect(QUOTA_CAUSES).toContain(broken?.cause);
  });
});

describe('places', () => {
  const document = three({ 'START-001': [250, 430, 260], 'OH-001': [5, 5, 6] });

  it('are not given without tests between the systems', () =>
    expect(advice(withPairs(document, []), 'Inference')).toMatchObject({
      ...{ places: null, reason: expect.stringContaining('no test') },
    }));

  it('follow an established difference between them', () =>
    expect(advice(withPairs(document, [pair(document, 'START-001', 'slower')]), 'Inference').places).toEqual([
      { place: 1, systems: ['b'] },
      { place: 2, systems: ['a'] },
    ]));

  it('are not given where each is better in something, however often', () => {
    const pairs = [pair(document, 'START-001', 'slower'), pair(document, 'OH-001', 'faster')];
    expect(advice(withPairs(document, pairs), 'Inference')).toMatchObject({
      places: null,
      reason: expect.stringContaining('trade-off'),
    });
  });

  it('do not rest on an inconclusive test', () =>
    expect(advice(withPairs(document, [pair(document, 'START-001', 'inconclusive')]), 'Inference').places).toBeNull());

  it('are not given to a system with a violation that decides', () => {
    const violations = [{ system: 'b', metric: 'IS-010', detail: 'trap: its neighbour: no result' }];
    const found = advice({ ...withPairs(document, [pair(document, 'START-001', 'slower')]), violations }, 'Inference');
    expect(found.places).toBeNull();
    expect(found.systems.find(({ system }) => system === 'b')?.text).toMatch(/^No: lets 1 fault/);
  });
});

describe('advice', () => {
  it('does not contradict the cards', () => {
    const document = recorded('2026-11-20-c169d8c/compared-overhead-standard.json');
    const { cards, recommendations } = answerOf(document);
    const slower = cards.flatMap(({ lines }) =>
      lines.slice(0, 3).flatMap(({ figures }) => figures.filter(({ word }) => word === 'slower')),
    );
    expect(slower.length).toBeGreaterThan(1);
    const text = recommendations.find(({ use }) => use === 'Inference')?.systems[0]?.text;
    for (const { what, shown } of slower) expect(text).toContain(`${what} ${shown}`);
  });

  it('says what is not known where the deciding metrics were not measured', () => {
    const found = advice(three({ 'START-001': [250, 430, 260] }), 'Strict quotas');
    expect(found).toMatchObject({ decides: [], missing: ['IS-001', 'IS-003', 'IS-011'], systems: [] });
  });
});

describe('what is not known', () => {
  it('has the command that measures it', () => {
    const { unknown } = answerOf(three({ 'START-001': [250, 430, 260] }));
    expect(unknown[0]?.command).toMatch(
      /^npx gpu-virt-bench compare OH-001 OH-002 LLM-004 OH-010 IS-001 .* --system native --system a --system b$/,
    );
  });

  /** `a` has a value of IS-003 in no round. */
  const withoutLimit = (): ComparisonDocument => {
    const document = three({ 'IS-001': [100, 100, 100], 'IS-003': [100, 100, 100] });
    const isOfA = ({ system }: { system: { name: string } }) => system.name === 'a';
    return {
      ...document,
      systems: document.systems.map((rounds) =>
        rounds.map((round) =>
          isOfA(round) ? { ...round, metrics: round.metrics.filter(({ id }) => id !== 'IS-003') } : round,
        ),
      ),
    };
  };

  it('names single figures of a question that has others', () => {
    const { unknown } = answerOf(withoutLimit());
    expect(unknown.map(({ text }) => text)).toContain('Not measured: compute limit of a.');
    expect(unknown.find(({ text }) => text.includes('limit of a'))?.command).toContain(' IS-003 ');
    const { unknown: nothing } = answerOf(three({ 'IS-001': [100, 100, 100], 'IS-003': [100, 100, 100] }));
    expect(nothing.map(({ text }) => text).join(' ')).not.toMatch(/limit of/);
  });

  it('stands below the decision, shortened, with the number of what else is open', () => {
    const answer = answerOf(withoutLimit());
    expect(answer.unknown.length).toBeGreaterThan(1);
    expect(openText(answer)).toMatch(/^Not measured: .* \d more below\.$/);
    expect(openText({ ...answer, unknown: [] })).toBeNull();
    const long = { text: `Not measured: ${'one two '.repeat(20)}`, command: null };
    expect(openText({ ...answer, unknown: [long] })).toBe(`Not measured: ${'one two '.repeat(7)}…`);
  });

  it('gives no command and no test between systems where no round was measured', () => {
    const document = three({ 'OH-001': [5, 5, 6] });
    const first = { ...document, systems: [document.systems[0] ?? [], [], []], effects: [], pairs: [] };
    expect(answerOf(first as ComparisonDocument).unknown.filter(({ command }) => command !== null)).toEqual([]);
    const systems = document.systems.map(() => []);
    const empty = { ...document, systems, effects: [], pairs: [], completed: false } as ComparisonDocument;
    expect(answerOf(empty).unknown.filter(({ command }) => command !== null)).toEqual([]);
    const two = {
      ...empty,
      plan: { ...empty.plan, systems: ['native', 'a'] },
      systems: [[], []],
    } as ComparisonDocument;
    expect(advice(two, 'Inference').reason).toBe('No places: no test compares these systems with each other.');
  });

  it('ends with a full stop, before what follows it', () => {
    const document = three({ 'OH-001': [5, 5, 6] });
    const invalid = document.systems.map((rounds) =>
      rounds.map((round) => ({ ...round, metrics: [without('OH-001', 'invalid', 'impossible: -1 us')] })),
    );
    const text = openText(answerOf({ ...document, systems: invalid, effects: [], pairs: [] } as ComparisonDocument));
    expect(text).toMatch(/^native: no numbers; invalid: impossible: -1 us\. \d more below\.$/);
  });

  it('names metrics without a verdict, and more rounds', () => {
    const open = withEffects(three({ 'START-001': [250, 430, 260] }), () => ({ verdict: 'inconclusive' }));
    const found = answerOf(open).unknown.find(({ text }) => text.startsWith('Not decided'));
    expect(found?.text).toContain('until the first result (START-001)');
    expect(Number(/--rounds (\d+)/.exec(found?.command ?? '')?.[1])).toBeGreaterThan(3);
  });
});

describe('the decision', () => {
  it.each([
    [
      '2026-11-22-ecd50cb/compared-isolation.json',
      /^For strict quotas use none of hami-50, .* 22 GiB granted under 20 GiB/,
    ],
    ['2026-11-20-c169d8c/compared-overhead-standard.json', /^Use hami-core only where \+173\.8 ms \(.*\) .*cuInit/],
    ['2026-11-23-3648153/programs.json', /^Use mps-50 only where -18\.72 % \(.*\) decode\/tokens-per-second/],
  ])('of %s has a number and a reason in 40 words', (file, says) => {
    const { decision } = answerOf(recorded(file));
    expect(decision).toMatch(says);
    expect(decision.split(' ').length).toBeLessThanOrEqual(40);
  });
});

it.each([
  [{ 'OH-001': [5, 5, 5] }, '2 of 2 figures are not decided.'],
  [{ 'OH-001': [5, 5, 5], 'START-001': [250, 250, 250] }, '2 of 4 figures are not decided.'],
] as [Record<string, [number, number, number]>, string][])('counts the figures that are open: %j', (values, says) => {
  const document = withEffects(three(values), ({ metric }) => ({
    verdict: metric === 'OH-001' ? 'inconclusive' : 'same',
  }));
  expect(answerOf(document).decision).toContain(says);
  const systems = document.systems.slice(0, 2);
  const effects = document.effects.filter(({ system }) => system === 'a');
  expect(answerOf({ ...document, systems, effects }).decision).toMatch(/: 1 of (1 figure|2 figures) is not decided\.$/);
});

it('a tally of one metric is in the singular', () => {
  const texts = (values: Record<string, [number, number, number]>) =>
    tallies(viewOf(three(values))).map(({ text }) => text.replace(/:.*/, ''));
  expect(texts({ 'OH-001': [5, 5, 5] })).toEqual(['Of 1 metric', 'Of 1 metric']);
  expect(texts({ 'OH-001': [5, 5, 5], 'OH-002': [5, 5, 5] })).toEqual(['Of 2 metrics', 'Of 2 metrics']);
});

describe('an answer', () => {
  it('is valid in every document, replaces an earlier one, and is what --brief prints', () => {
    const document = answered(everyKind());
    expect(v.is(answerSchema, document.answer)).toBe(true);
    expect(v.is(comparisonDocumentSchema, document)).toBe(true);
    expect(answered(document)).toEqual(document);
    expect(briefReport(document).split('\n')[0]).toBe(document.answer?.decision);
  });
});

it('every section has an id and a title of its own, and only the last are folded', () => {
  expect(new Set(sections.map(({ id }) => id)).size).toBe(sections.length);
  expect(new Set(sections.map(({ title }) => title)).size).toBe(sections.length);
  const firstFolded = sections.findIndex((section) => 'isFolded' in section);
  expect(sections.slice(firstFolded).every((section) => 'isFolded' in section)).toBe(true);
});

describe('rare stalls', () => {
  /** One call in a hundred takes `slow` times as long: the mean is far above the median. */
  const stalling = (mean: number, max: number): ComparisonDocument => {
    const document = three({ 'OH-001': [5, 5, 5] });
    const inA = document.systems[1] ?? [];
    for (const round of inA)
      round.metrics = round.metrics.map((result) =>
        result.status === 'ok' && result.stats
          ? { ...result, stats: { ...result.stats, min: 4, mean, p50: 5, max } }
          : result,
      );
    return document;
  };
  const said = (document: ComparisonDocument) =>
    answerOf(document)
      .unknown.map(({ text }) => text)
      .filter((text) => text.includes('stalls'));

  it('are said of the system that has them, by its own figures', () => {
    expect(said(stalling(60, 6_000))).toEqual([
      'a stalls rarely, which medians do not show: the mean of OH-001 is 12 times its median, the slowest 6.000 ms.',
    ]);
  });

  it('are not said of what drivers do', () => {
    // The largest of 122 recorded results of frees: 1.89 times the median.
    expect(said(stalling(5 * 1.89, 2_000))).toEqual([]);
  });
});
