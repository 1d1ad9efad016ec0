import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { isComparison, roundsOf } from '../../../lib/results/kinds.js';
import { violationsOf } from '../../../lib/results/violations.js';
import { readDocument } from '../../../lib/saved/read.js';
import { UsageError } from '../../../lib/errors/usage-error.js';
import { comparison, everyKind, measured } from '../report/fixtures.js';
import { documentOf, hostileTexts } from '../report/hostile.js';
import { card, result, runDocument } from '../run/fixtures.js';

const folder = mkdtempSync(join(tmpdir(), 'gvb-read-'));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;

function saved(content: unknown): string {
  const file = join(folder, `${files++}.json`);
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

const whole = everyKind();
const text = JSON.stringify(whole);

describe('a saved document', () => {
  it('is read as it was written', async () => {
    expect(await readDocument(saved(whole))).toEqual({ document: whole, problems: [] });
    const run = runDocument();
    expect((await readDocument(saved(run))).document).toEqual(run);
  });

  it('is found in a run directory', async () => {
    const directory = join(folder, 'results');
    mkdirSync(directory);
    await expect(readDocument(directory)).rejects.toThrow(/it has no summary\.json\.$/);
    writeFileSync(join(directory, 'summary.json'), text);
    expect((await readDocument(directory)).document).toEqual(whole);
  });

  it('is read with hostile names', async () => {
    for (const texts of fc.sample(hostileTexts, 20)) {
      const document = documentOf(texts);
      // JSON makes an own key of `__proto__`, which sets the prototype in a literal.
      expect((await readDocument(saved(document))).document).toEqual(JSON.parse(JSON.stringify(document)));
    }
  });
});

const records = fileURLToPath(new URL('../../../bench/results', import.meta.url));
const recorded = readdirSync(records, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.json') && !name.endsWith('calibration.json'))
  .sort();

describe('a document that an older version recorded', () => {
  it.each(recorded)('is read completely, with the terms of this version: %s', async (name) => {
    const file = join(records, name);
    const { document, problems } = await readDocument(file);
    expect(problems).toEqual([]);
    const then = readFileSync(file, 'utf8').replaceAll(/"schemaVersion": ?[12]\b/g, '"schemaVersion": 3');
    const concluded = ['warnings', 'effects', 'pairs', 'callEffects', 'rejudgedFrom', 'rankings'];
    const measured = (json: string) =>
      JSON.parse(json, (key, value: unknown) => (concluded.includes(key) ? undefined : value)) as unknown;
    expect(measured(JSON.stringify(document))).toEqual(measured(then));
    if (!isComparison(document)) return;
    const { schemaVersion, effects } = JSON.parse(readFileSync(file, 'utf8')) as {
      schemaVersion: number;
      effects: { metric: string; system: string; ratio: number | null; verdict: string }[];
    };
    expect(document.rejudgedFrom).toBe(schemaVersion < 3 ? schemaVersion : undefined);
    for (const { metric, system, ratio, verdict } of effects) {
      const now = document.effects.find((each) => each.metric === metric && each.system === system);
      if (verdict === 'invalid') expect(now?.verdict).toBe('invalid');
      else if (now?.verdict !== 'invalid' && ratio !== null) expect(now?.ratio).toBeCloseTo(ratio, 9);
    }
  });

  it('has inconclusive for the ambiguous of version 1', async () => {
    const [name] = recorded.filter((each) => readFileSync(join(records, each), 'utf8').includes('"ambiguous"'));
    const old = JSON.parse(readFileSync(join(records, name as string), 'utf8')) as { schemaVersion: number };
    expect(old.schemaVersion).toBe(1);
    const { document } = await readDocument(join(records, name as string));
    const verdicts = isComparison(document) ? document.effects.map(({ verdict }) => verdict) : [];
    expect(verdicts).toContain('inconclusive');
  });

  it('has no violations if metrics could not report them', async () => {
    const { document } = await readDocument(join(records, 'h200/2026-11-20-21f71fe/native.json'));
    const results = roundsOf(document).flatMap(({ metrics }) => metrics);
    expect(results.length).toBeGreaterThan(0);
    for (const each of results) expect(each).not.toHaveProperty('violations');
    expect(violationsOf(document)).toEqual([]);
  });
});

const [, effect] = whole.effects;
const first = whole.systems[0]?.[0];
const refused: [what: string, content: unknown, says: RegExp][] = [
  ['cut off', text.slice(0, -10), /it is not complete JSON; it may have been cut off/],
  ['empty', '', /it is empty/],
  ['of another program', { a: 1 }, /no schemaVersion and kind/],
  ['a list', [], /no schemaVersion and kind/],
  ['null', null, /no schemaVersion and kind/],
  ['of a newer schema', { ...whole, schemaVersion: 4 }, /schema version 4 and this gpu-virt-bench reads 3/],
  ['of an older schema', { ...whole, schemaVersion: 0 }, /schemaVersion/],
  [
    'with a verdict of version 1',
    { ...whole, effects: [{ ...effect, verdict: 'ambiguous' }] },
    /at effects\.0\.verdict/,
  ],
  ['of an unknown kind', { ...whole, kind: 'fleet' }, /its kind is 'fleet'/],
  ['with an unknown key', { ...whole, colour: 'red' }, /at colour: Invalid key/],
  ['without a key', { ...whole, durationMs: undefined }, /at durationMs: it is missing\.$/],
  ['with text for a number', text.replace('"durationMs":366000', '"durationMs":"NaN"'), /at durationMs: .*"NaN"/],
  ['with NaN', text.replace('"durationMs":366000', '"durationMs":NaN'), /not complete JSON/],
  ['with an infinite number', text.replace('"durationMs":366000', '"durationMs":1e999'), /at durationMs: .*Infinity/],
  ['with null for a number', { ...whole, durationMs: null }, /at durationMs: .*received null/],
  [
    'with ok without a value',
    { ...runDocument(), metrics: [{ ...measured('OH-001', 5, 0), value: null }] },
    /at metrics\.0\.value: .*received null/,
  ],
  [
    'with a failure that has a value',
    { ...runDocument(), metrics: [{ ...measured('OH-001', 5, 0), status: 'failed', reason: 'why' }] },
    /at metrics\.0\.value: .*Expected null/,
  ],
  ['with a round of no system', { ...whole, systems: [] }, /its rounds do not match the systems in its plan/],
  [
    'with two systems of a name',
    { ...whole, plan: { ...whole.plan, systems: ['a', 'a\u0007', 'b'] } },
    /two of its systems have the same name/,
  ],
  [
    'with a metric in two units',
    {
      ...whole,
      systems: [[first, { ...first, metrics: [{ ...measured('OH-001', 5, 0), unit: 'ms' }] }], [], []],
    },
    /OH-001 is in us and in ms/,
  ],
  [
    'with a metric twice in a round',
    { ...whole, systems: [[{ ...first, metrics: [measured('OH-001', 5, 0), measured('OH-001', 6, 0)] }], [], []] },
    /it has OH-001 twice in a round/,
  ],
  ['with an effect twice', { ...whole, effects: [effect, effect] }, /two effects in 'OH-001 of mps'/],
  ['that took longer than anything', { ...whole, durationMs: 1.7e308 }, /its duration is negative or more than/],
  [
    'with details without end',
    JSON.stringify({ ...runDocument(), metrics: [{ ...measured('OH-001', 5, 0), details: { deep: 0 } }] }).replace(
      '"deep":0',
      `"deep":${'['.repeat(20_000)}${']'.repeat(20_000)}`,
    ),
    /it is nested deeper than 100 levels/,
  ],
  ['nested deeper than anything', '['.repeat(1_000_000), /it is nested deeper than 100 levels/],
  ['with more values than a document has', `[${'[],'.repeat(5_000_000)}[]]`, /it has more than 8388608 values/],
];

describe('an invalid document', () => {
  it.each(refused)('is refused: %s', async (_what, content, says) => {
    const error = await readDocument(saved(content)).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UsageError);
    expect((error as Error).message).toMatch(says);
    expect((error as Error).message).not.toContain('\n');
  });

  it('is refused if the file is missing or endless', async () => {
    await expect(readDocument(join(folder, 'none.json'))).rejects.toThrow(/there is no such file/);
    await expect(readDocument('/dev/zero')).rejects.toThrow(/it is not a regular file/);
  });

  it('is refused before it is read if it has 500 MB', async () => {
    const file = saved('');
    truncateSync(file, 500e6);
    await expect(readDocument(file)).rejects.toThrow(/it has 477 MiB, 256 at most are read/);
  });

  it('never causes another error, for any truncation or change', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(text.length - 1), fc.string({ maxLength: 4 }), async (at, put) => {
        const changed = text.slice(0, at) + put + text.slice(at + 1 + put.length);
        const outcome = await readDocument(saved(changed)).catch((thrown: unknown) => thrown);
        if (outcome instanceof Error) expect(outcome).toBeInstanceOf(UsageError);
      }),
      { numRuns: 100 },
    );
  });
});

describe('an impossible result', () => {
  const gpu = [
    card({ name: 'NVIDIA GeForce RTX 3080', computeCapability: '8.6', multiprocessors: 68, maxSmClockMhz: null }),
  ];
  const attention = (value: number) => result('LLM-001', { name: 'Attention', unit: 'TFLOPS', value, ci95: null });
  const read = async (document: unknown) => {
    const { document: found, problems } = await readDocument(saved(document));
    return { metrics: found.kind === 'run' ? found.metrics : [], document: found, problems };
  };

  it.each([2_400, 9_191])('of %i TFLOPS on an RTX 3080 is invalid', async (value) => {
    const { metrics, problems } = await read(runDocument({ gpu, metrics: [attention(value)] }));
    expect(metrics[0]).toMatchObject({ status: 'invalid', value: null, stats: null });
    expect(problems).toEqual([
      `environment, LLM-001: impossible: ${value} TFLOPS, and NVIDIA GeForce RTX 3080 cannot do more than 243.7`,
    ]);
  });

  it('is found by the highest clock of the card, if the document has it', async () => {
    const read200 = (change: object) =>
      read(runDocument({ gpu: gpu.map((one) => ({ ...one, ...change })), metrics: [attention(200)] }));
    expect((await read200({ maxSmClockMhz: undefined })).problems).toEqual([]);
    expect((await read200({ maxSmClockMhz: null })).problems).toEqual([]);
    expect((await read200({ maxSmClockMhz: 2_100 })).problems[0]).toMatch(/cannot do more than 146\.2$/);
  });

  it('within the limits of the card is valid', async () => {
    expect((await read(runDocument({ gpu, metrics: [attention(100)] }))).problems).toEqual([]);
  });

  it('on a card without memory is invalid', async () => {
    const { metrics } = await read(runDocument({ gpu: [card({ memoryBytes: 0 })], metrics: [attention(100)] }));
    expect(metrics[0]).toMatchObject({ status: 'invalid', reason: 'impossible: the GPU has 0 bytes of memory' });
  });

  it.each([
    ['no time at all', { value: 0 }, 'impossible: 0 us'],
    ['less than none', { value: -1 }, 'impossible: -1 us'],
    ['an interval that ends first', { ci95: [2, 1] }, 'impossible: its interval ends before it begins'],
    ['beyond all bounds', { value: 1.7e308 }, 'impossible: a number beyond 1e+100'],
    ['an interval beyond all bounds', { ci95: [1, 1.7e308] }, 'impossible: a number beyond 1e+100'],
  ] as const)('is %s', async (_what, change, reason) => {
    const metrics = [{ ...measured('OH-001', 5, 0), ...change, stats: null }];
    expect((await read({ ...runDocument(), metrics })).metrics[0]).toMatchObject({ status: 'invalid', reason });
  });

  describe('of a copy over a link', () => {
    const copied = (value: number, details = {}) => ({
      ...result('PCIE-001', { name: 'Host-to-Device Bandwidth', unit: 'GB/s', value, ci95: null }),
      details,
    });
    const x16 = { link: { ceilingGbs: 63.008 } };

    it.each([
      [64, x16, null],
      [252, x16, 'impossible: 252.0 GB/s, and the link carries no more than 63.0'],
      [64, {}, null],
      [450, {}, 'impossible: 450.0 GB/s, and the link carries no more than 121.0'],
    ])('%i GB/s with the link %o', async (value, details, reason) => {
      const { metrics, problems } = await read(runDocument({ metrics: [copied(value, details)] }));
      expect(metrics[0]?.status).toBe(reason === null ? 'ok' : 'invalid');
      expect(problems).toEqual(reason === null ? [] : [`environment, PCIE-001: ${reason}`]);
    });
  });

  it('is a fragmentation of more than all there is', async () => {
    const metrics = [result('FRAG-001', { name: 'Fragmentation Index', unit: '%', value: 170, ci95: null })];
    expect((await read(runDocument({ metrics }))).problems).toEqual([
      'environment, FRAG-001: impossible: an index of 170 %',
    ]);
  });

  it('may be negative where the metric is signed', async () => {
    expect((await read(runDocument({ metrics: [measured('OH-005', -3, 0)] }))).problems).toEqual([]);
  });

  it.each([
    ['an interval that does not hold it', { ratioCi95: [2, 0.5] }, 'impossible: its interval does not contain it'],
    ['a ratio of nothing', { ratio: 0, ratioCi95: null }, 'impossible: a ratio of 0'],
    ['a number beyond all bounds', { difference: 1e300, differenceCi95: null }, 'impossible: a number beyond 1e+100'],
  ] as const)('is an effect with %s', async (_what, change, reason) => {
    const { document: found, problems } = await read({ ...whole, effects: [{ ...effect, ...change }] });
    const effects = found.kind === 'comparison' ? found.effects : [];
    expect(effects[0]).toMatchObject({ verdict: 'invalid', ratio: null, difference: null, reason });
    expect(problems).toEqual([`mps against native, OH-001: ${reason}`]);
  });

  it('invalidates the effects computed from it', async () => {
    const document = comparison([
      { name: 'native', metrics: (round) => [measured('OH-001', 5, round), measured('OH-002', 40, round)] },
      { name: 'mps', metrics: (round) => [measured('OH-001', 6, round), measured('OH-002', 44, round)] },
    ]);
    const broken = structuredClone(document);
    (broken.systems[1]?.[2]?.metrics[0] as { value: number }).value = 0;
    const { document: found } = await read(broken);
    const effects = found.kind === 'comparison' ? found.effects : [];
    expect(effects[0]).toMatchObject({ metric: 'OH-001', verdict: 'invalid', ratio: null, reason: 'impossible: 0 us' });
    expect(effects[1]).toEqual(document.effects[1]);
  });
});
