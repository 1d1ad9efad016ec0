import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ComparisonDocument, RunDocument } from '../../../lib/results/document.js';
import { disowned } from '../../../lib/run/effects/results.js';
import { htmlReport } from '../../../lib/report/formats/html.js';
import { WATERMARK } from '../../../lib/report/formats/terminal.js';
import type { ResultDocument } from '../../../lib/results/kinds.js';
import { viewOf } from '../../../lib/results/view.js';
import { comparisonOf, large, runOf, small, words } from './html-fixtures.js';
import { kinds, type Parsed, parse } from './html-page.js';
import { expectSections } from './section-order.js';
import { device, result, runDocument } from '../run/fixtures.js';

const page = (document: ResultDocument, said = words) => htmlReport(viewOf(document), said);
const comparison = comparisonOf(small);
const parsed = parse(page(comparison));
const textOf = ({ texts }: Parsed) => texts.join(' ').replace(/\s+/g, ' ');
const named = ({ tags }: Parsed, name: string) => tags.filter((tag) => tag.name === name);
const ids = ({ tags }: Parsed) => tags.flatMap(({ attributes }) => attributes.id ?? []);

describe('the page of a comparison', () => {
  it('contains its sections, in order', () =>
    expectSections(
      named(parsed, 'section').map(({ attributes }) => attributes.id),
      [
        ...(['answer', 'violations', 'recommendations', 'unknown', 'results', 'compute-limits'] as const),
        ...(['not-measured', 'tails', 'consistency', 'statistics', 'health', 'reproduction', 'environment'] as const),
      ],
    ));

  it('links only to existing anchors', () => {
    const known = new Set(ids(parsed));
    for (const { attributes } of parsed.tags)
      for (const [name, value] of Object.entries(attributes)) {
        expect(name).not.toMatch(/^(on|src|srcdoc|action|formaction|xlink)/);
        if (name === 'href') expect(known).toContain(value.replace(/^#/, ''));
        expect(value).not.toMatch(/url\((?!#)|javascript:|data:|https?:/);
      }
    expect(parsed.style).not.toMatch(/url\(|@import|@font-face/);
    expect(parsed.script).not.toMatch(/fetch|XMLHttp|import\(|https?:|eval|innerHTML/);
  });

  it('has unique ids', () => expect(new Set(ids(parsed)).size).toBe(ids(parsed).length));

  it('has headings in order, one of them first', () => {
    const levels = parsed.tags.flatMap(({ name }) => (/^h[1-6]$/.test(name) ? [Number(name[1])] : []));
    expect(levels.filter((level) => level === 1)).toEqual([1]);
    expect(levels[0]).toBe(1);
    levels.reduce((before, level) => {
      expect(level).toBeLessThanOrEqual(before + 1);
      return level;
    });
  });

  it('labels its tables, their headings, its drawings and scroll regions', () => {
    expect(named(parsed, 'caption')).toHaveLength(named(parsed, 'table').length);
    for (const { attributes } of named(parsed, 'th')) expect(attributes.scope).toMatch(/^(col|row|colgroup)$/);
    const drawings = named(parsed, 'svg').filter(({ attributes }) => attributes['aria-hidden'] !== 'true');
    expect(drawings.length).toBeGreaterThan(small.metrics);
    for (const { attributes } of drawings) {
      expect(attributes.role).toBe('img');
      expect(attributes['aria-label']?.length).toBeGreaterThan(20);
    }
    expect(named(parsed, 'figcaption')).toHaveLength(named(parsed, 'figure').length);
    for (const { attributes } of parsed.tags.filter(({ attributes: { role } }) => role === 'region'))
      expect(attributes).toMatchObject({ tabindex: '0', 'aria-label': expect.stringMatching(/./) });
  });

  it('allows only its own script and style, by their hashes', () => {
    const policy = named(parsed, 'meta').find(({ attributes }) => 'http-equiv' in attributes)?.attributes.content;
    const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
    expect(policy).toBe(
      `default-src 'none'; style-src ${hash(parsed.style)}; script-src ${hash(parsed.script)}; base-uri 'none'; form-action 'none'`,
    );
    expect(named(parsed, 'script')).toHaveLength(1);
    expect(named(parsed, 'style')).toHaveLength(1);
    expect(parsed.tags.some(({ attributes }) => 'style' in attributes)).toBe(false);
    const own = (name: string) => readFileSync(new URL(`../../../lib/report/html/${name}`, import.meta.url), 'utf8');
    expect([parsed.style, parsed.script]).toEqual([own('page.css'), own('page.js')]);
  });

  it('contains the given words', () => {
    const said = textOf(parsed);
    const { answer, statistics, reproduction, toFillIn, facts, environment } = words;
    const all = [answer.decision, ...statistics, reproduction, ...toFillIn, ...[...facts, ...environment].flat()];
    const advice = answer.recommendations.flatMap(({ use, reason }) => [use, reason]);
    for (const word of [...all, ...advice, ...answer.unknown.flatMap(({ text, command }) => [text, command ?? ''])])
      expect(said).toContain(word);
  });

  it('shows values, intervals, ratios and verdicts', () => {
    const [row] = viewOf(comparison).categories.flatMap(({ rows }) => rows);
    const said = textOf(parsed);
    expect(said).toContain(`${row?.id} ${row?.name}`);
    for (const { effect } of row?.cells.slice(1) ?? []) expect(said).toContain(effect?.verdict);
    expect(said).toContain('n/a');
    expect(said).toContain('< 0.0001');
  });

  it('draws bars, boxes, lines, ratios and the GPU over time', () => {
    const labels = named(parsed, 'svg').flatMap(({ attributes }) => attributes['aria-label'] ?? []);
    for (const part of [
      /Values in us, with 95 % intervals: native: .* us \(.* … .*\).*Spread in us: .* of 3 rounds/,
      /^Allocation latency against live allocations/,
      /^Time to the first result against processes/,
      /^Launch against processes/,
      /^Share of the card over time/,
      /^Ratios of overhead/,
      /^GPU utilisation over time/,
    ])
      expect(labels.some((label) => part.test(label))).toBe(true);
    expect(textOf(parsed)).toContain('Boxes: of the rounds’ values');
  });

  it('shows the fewest samples for a percentile', () => {
    const few = comparisonOf({ ...small, metrics: 1 });
    for (const { metrics } of few.systems.flat())
      for (const { stats } of metrics) if (stats) Object.assign(stats, { count: 50, p95: null, p99: null });
    expect(textOf(parse(page(few)))).toMatch(/n\/a \(needs 59\).*n\/a \(needs 299\)/);
  });
});

describe('other pages', () => {
  it('a run has a page, with boxes of blocks', () => {
    const run = parse(page(runOf({ ...small, systems: ['native'], rounds: 1 }, 0, 0)));
    expect(textOf(run)).toContain('Boxes: of blocks of samples within one round');
    expect(run.tags.some(({ attributes }) => 'data-verdicts' in attributes)).toBe(false);
    expect(ids(run)).not.toContain('filter-verdict');
  });

  it('a document without any result has one too', () => {
    const empty = { ...comparison, systems: [[], [], []], effects: [], computeLimits: [], violations: [] };
    expect(() => parse(page(empty))).not.toThrow();
    expect(() => parse(page(runDocument({ gpu: [] })))).not.toThrow();
  });

  it('simulation is shown at the top and as a watermark, and only then', () => {
    const simulated = comparisonOf(small);
    for (const run of simulated.systems.flat()) run.gpu = [{ ...device(0), simulated: true }];
    const marked = parse(page(simulated));
    expect(textOf(marked).indexOf(WATERMARK)).toBeLessThan(textOf(marked).indexOf(words.answer.decision));
    expect(ids(marked)).toContain('watermark');
    expect(textOf(parsed)).not.toContain('SIMULATED');
    expect(ids(parsed)).not.toContain('watermark');
  });

  it('interruption is shown at the top, and only then', () => {
    expect(textOf(parse(page({ ...comparison, completed: false })))).toContain('Interrupted:');
    expect(textOf(parsed)).not.toContain('Interrupted:');
  });

  it('is the same every time', () => {
    const again = page(comparisonOf(small));
    expect(again === page(comparisonOf(small))).toBe(true);
    // ECharts counts these from the start of the process.
    expect(/zr\d|ecmeta|cls-/.exec(again)?.[0]).toBeUndefined();
  });
});

const NOTHING = /\b(NaN|null|undefined|Infinity)\b|\[object/;

function expectNothing({ tags, texts }: Parsed) {
  const shown = [...texts, ...tags.flatMap(({ attributes }) => Object.values(attributes))];
  expect(shown.filter((text) => NOTHING.test(text))).toEqual([]);
}

const odd = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(0, -0, 5e-324, 1e308, -1e308, 1, 1 + 2 ** -52, 1e-200, 1e200, 1e21),
);
const oddInterval = fc.option(fc.tuple(odd, odd), { nil: null });

describe('missing or extreme numbers', () => {
  it('do not reach the page if nothing was measured', () => {
    const states = (['unsupported', 'invalid', 'failed'] as const).map((status, i) =>
      result(`X-00${i}`, { status, value: null, ci95: null }),
    );
    expectNothing(parse(page(runDocument({ metrics: states }))));
    expectNothing(parsed);
  });

  it('are drawn or omitted', () =>
    fc.assert(
      fc.property(
        fc.array(fc.record({ value: odd, ci95: oddInterval, blocks: fc.array(odd, { maxLength: 4 }) }), {
          minLength: 1,
          maxLength: 4,
        }),
        fc.option(odd, { nil: null }),
        oddInterval,
        (values, ratio, ratioCi95) => {
          const document = comparisonOf({ metrics: 1, systems: ['a', 'b'], rounds: values.length, readings: 3 });
          for (const runs of document.systems)
            runs.forEach((run, round) => Object.assign(run.metrics[0] ?? {}, values[round]));
          Object.assign(document.effects[0] ?? {}, { ratio, ratioCi95, difference: ratio, differenceCi95: ratioCi95 });
          expectNothing(parse(page(document)));
        },
      ),
      { numRuns: 12 },
    ));

  it('in details and samplers too', () =>
    fc.assert(
      fc.property(fc.array(odd, { maxLength: 6 }), fc.anything(), (numbers, anything) => {
        const document = comparisonOf({ metrics: 3, systems: ['a', 'b'], rounds: 1, readings: 6 });
        const [first, second, third] = document.systems[0]?.[0]?.metrics ?? [];
        const rows = numbers.map((x) => ({ live: x, pairNs: x, processes: x, p50Us: x, operation: 'launch' }));
        Object.assign(first ?? {}, { details: { rows: anything } });
        Object.assign(second ?? {}, { details: { cells: [...rows, anything] } });
        Object.assign(third ?? {}, { details: anything });
        const sampler = document.systems[0]?.[0]?.sampler;
        if (sampler) Object.assign(sampler, { timeMs: numbers, gpuPercent: numbers });
        for (const limit of document.computeLimits) limit.sharesPercent = numbers;
        expectNothing(parse(page(document)));
      }),
      { numRuns: 12 },
    ));
});

const nasty = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  '</title><svg onload=alert(1)>',
  ']]></style><b>',
  '<!-- ',
  '&lt;&#60;&amp',
  '{b} {a|x} {c}: {value} ${1}',
  'line\nbreak\ttab\r',
  '\u0000\u001b[31m\u202egnp\u2066\ud800',
  'NVIDIA 超长名字😀',
  'W'.repeat(20_000),
];
const hostile = fc.oneof(
  fc.constantFrom(...nasty),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc
    .array(fc.constantFrom('<', '>', '"', "'", '&', '/', '=', ' ', 'a', '\n', '{', '|', '}', ']', '-', '!'), {
      maxLength: 40,
    })
    .map((parts) => parts.join('')),
);

/** Every string of a document that its writer can choose. */
function poison(document: ComparisonDocument, text: string): ComparisonDocument {
  const names = document.plan.systems.map((_, i) => `${text}${i}`);
  const rename = (name: string) => names[document.plan.systems.indexOf(name)] ?? text;
  const run = (old: RunDocument): RunDocument => ({
    ...old,
    gpu: old.gpu.map((gpu) => ({ ...gpu, name: text })),
    system: { ...old.system, name: rename(old.system.name) },
    metrics: old.metrics.map((one) => ({
      ...(one.id === 'X-005' ? disowned(one, text) : one),
      name: text,
      unit: text,
      category: text,
    })),
    health: { before: [{ name: text, passed: false, detail: text }], after: [] },
    warnings: [text],
  });
  return {
    ...document,
    plan: { ...document.plan, systems: names },
    systems: document.systems.map((rounds) => rounds.map(run)),
    effects: document.effects.map((effect) => ({
      ...effect,
      system: rename(effect.system),
      baseline: rename(effect.baseline),
      reason: text,
    })),
    computeLimits: document.computeLimits.map((limit) => ({ ...limit, system: rename(limit.system), detail: text })),
    violations: document.violations.map((one) => ({ ...one, system: rename(one.system), metric: text, detail: text })),
    warnings: [text],
  };
}

const poisonedFigure = (text: string) => ({
  ...{ metric: text, what: text, value: 1, ci95: null, unit: text, word: 'slower' as const },
  ...{ shown: text, shownCi95: text, cause: text, note: text },
});

const poisonedWords = (text: string): typeof words => ({
  facts: [[text, text]],
  answer: {
    decision: text,
    cards: [
      { system: text, lines: [{ question: 'start', title: text, word: 'slower', figures: [poisonedFigure(text)] }] },
    ],
    violations: [{ system: text, cause: text, text, items: [text], metrics: [text], value: 1, limit: 1, unit: text }],
    causes: [{ system: text, phases: [text], what: text, explains: [text] }],
    recommendations: [
      {
        ...{ use: text, decides: [text], missing: [text], reason: text },
        systems: [{ system: text, text }],
        places: [{ place: 1, systems: [text] }],
      },
    ],
    unknown: [{ text, command: text }],
  },
  statistics: [text],
  reproduction: text,
  toFillIn: [text],
  environment: [[text, text]],
});

describe('untrusted strings', () => {
  const shape = { ...small, metrics: 6, rounds: 2, readings: 5 };
  const long = 'W'.repeat(80);
  const harmless = [long, 'x'].flatMap((text) => [
    ...kinds(parse(page(poison(comparisonOf(shape), text), poisonedWords(text)))),
  ]);

  it('create no element or attribute, wherever they are', () =>
    fc.assert(
      fc.property(hostile, (text) => {
        const read = parse(page(poison(comparisonOf(shape), text), poisonedWords(text)));
        expect([...kinds(read)].filter((kind) => !harmless.includes(kind))).toEqual([]);
        expect(named(read, 'script')).toHaveLength(1);
        expect(read.script).toBe(parsed.script);
      }),
      { numRuns: 10, examples: nasty.map((text): [string] => [text]) },
    ));

  it.each(nasty.slice(0, 8))('are shown unchanged: %s', (text) => {
    const read = parse(page(poison(comparisonOf(shape), text), poisonedWords(text)));
    expect(textOf(read)).toContain(text);
    // This also applies in a drawing, where ECharts writes the text.
    const drawn = named(read, 'svg').flatMap(({ attributes }) => attributes['aria-label'] ?? []);
    expect(drawn.some((label) => label.includes(text))).toBe(true);
  });

  it('do not change the text direction and contain no control character', () => {
    const unwanted = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u202a-\u202e\u2066-\u2069]|\p{Cs}/u;
    expect(unwanted.exec(page(poison(comparisonOf(shape), nasty[9] as string)))).toBeNull();
  });

  it('do not make a page grow without bounds', () => {
    const name = 'W'.repeat(100_000);
    const size = page(poison(comparisonOf({ ...small, metrics: 3 }), name), words).length;
    expect(size).toBeLessThan(5_000_000);
  });
});

describe('a document of the largest size', () => {
  const document = comparisonOf(large);
  const text = page(document);

  it('is a file that can be e-mailed', () => expect(text.length).toBeLessThan(5_000_000));

  it('is parsed like any other', () => expectNothing(parse(text)));

  it('leaves out of the drawings what would be invisible, and says so', () => {
    const many = comparisonOf({ metrics: 105, systems: ['native', 'a', 'b', 'c'], rounds: 1 });
    expect(textOf(parse(page(many)))).toMatch(/The \d+ ratios closest to 1 are omitted here/);
  });
});
