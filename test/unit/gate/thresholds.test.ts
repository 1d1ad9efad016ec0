import { join } from 'node:path';
import { mkdirSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../../lib/errors/usage-error.js';
import { parseThresholds, readThresholds } from '../../../lib/gate/thresholds-file.js';
import { defaultThresholds } from '../../../lib/gate/thresholds.js';
import { metrics } from '../../../lib/metrics/registry.js';
import { metric } from '../run/fixtures.js';
import { temporaryFolder } from '../systems/fixtures.js';

const parse = (text: string, all = metrics) => parseThresholds(text, 'gate.yaml', all);
const of = (text: string, id: string) => parse(text).metrics.get(id);

const refusal = (text: string, all = metrics): string => {
  try {
    parse(text, all);
    return 'accepted';
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return error.message;
  }
};

describe('thresholds', () => {
  it('by default allow 10 %, or five times the δ of metrics whose values may be zero', () => {
    const { missing, systems, metrics: of } = defaultThresholds(metrics);
    expect({ missing, systems }).toEqual({ missing: 'fail', systems: null });
    const common = { limit: null, inconclusive: 'pass', named: false };
    expect(of.get('OH-001')).toEqual({ ...common, regression: { relative: 0.1 } });
    expect(of.get('OH-005')).toEqual({ ...common, regression: { absolute: 25 } });
    expect(parse('{}')).toEqual(defaultThresholds(metrics));
  });

  it.each(['', '\n', '# all by default\n', '---\n# nothing\n', 'metrics:\n  # OH-001: { limit: 5 }\n'])(
    'are the defaults in a file that says nothing: %j',
    (text) => expect(parse(text)).toEqual(defaultThresholds(metrics)),
  );

  it('are read from YAML and from JSON', () => {
    const yaml = `
maxRegression: 20
inconclusive: fail
missing: pass
systems: [hami-core]
metrics:
  OH-001: { limit: 8.5, maxRegression: 5 }
  START-*: { inconclusive: pass }
  OH-005:
    maxDifference: 20
`;
    const { missing, systems, metrics: of } = parse(yaml);
    expect({ missing, systems }).toEqual({
      missing: 'pass',
      systems: [{ name: 'hami-core', place: 'gate.yaml:5:11' }],
    });
    expect(of.get('OH-001')).toEqual({ limit: 8.5, regression: { relative: 0.05 }, inconclusive: 'fail', named: true });
    expect(of.get('OH-002')).toEqual({
      limit: null,
      regression: { relative: 0.2 },
      inconclusive: 'fail',
      named: false,
    });
    expect(of.get('START-001')).toMatchObject({ inconclusive: 'pass', named: false });
    expect(of.get('OH-005')).toMatchObject({ regression: { absolute: 20 } });
    expect(of.size).toBe(metrics.length);
    expect(parse('{"metrics": {"oh-001": {"limit": 8}}}').metrics.get('OH-001')).toMatchObject({
      limit: 8,
      named: true,
    });
  });

  it('of a later entry override those of an earlier one, key by key', () => {
    const text = '{ metrics: { OH-001: { limit: 8, maxRegression: 5 }, overhead: { maxRegression: 30 } } }';
    expect(of(text, 'OH-001')).toMatchObject({ limit: 8, regression: { relative: 0.3 }, named: true });
  });

  it('omit checks that are off', () => {
    expect(of('maxRegression: off', 'OH-001')?.regression).toBeNull();
    expect(of('maxRegression: off', 'OH-005')?.regression).toBeNull();
    expect(of('{ maxRegression: off, metrics: { OH-001: { maxRegression: 5 } } }', 'OH-001')?.regression).toEqual({
      relative: 0.05,
    });
    expect(of('metrics: { OH-005: { maxDifference: off } }', 'OH-005')?.regression).toBeNull();
  });

  it.each([
    ['maxRegresion: 5', /^gate\.yaml:1:15: .*received 'maxRegresion': did you mean maxRegression\?$/],
    [
      'maxRegression: 10%',
      /^gate\.yaml:1:16: Expected maxRegression of the thresholds to be a percentage from 0 to 100000, or off but received '10%'\.$/,
    ],
    ['maxRegression: -1', /received -1\.$/],
    ['maxRegression: 0x10', /received '0x10'\.$/],
    ['maxRegression: .inf', /received '\.inf'\.$/],
    ['maxRegression: 1e999', /received '1e999'\.$/],
    ['maxRegression: []', /received an empty list\.$/],
    [
      'inconclusive: maybe',
      /^gate\.yaml:1:15: Expected inconclusive of the thresholds to be pass or fail but received 'maybe'/,
    ],
    ['missing: fai', /did you mean fail\?$/],
    [
      'systems: hami',
      /^gate\.yaml:1:10: Expected systems of the thresholds to be a list of texts but received 'hami'\.$/,
    ],
    ['systems: [[a]]', /to be a list of texts/],
    ['metrics: [OH-001]', /^gate\.yaml:1:10: Expected metrics of the thresholds to be a map/],
    ['metrics:\n  OH-0001: {}', /^gate\.yaml:2:12: .*received 'OH-0001': did you mean OH-001\?$/],
    ['metrics:\n  ZZ-*: {}', /^gate\.yaml:2:9: .*received 'ZZ-\*'/],
    ['metrics:\n  OH-001: 5', /^gate\.yaml:2:11: Expected 'OH-001' to be a map with keys limit, maxRegression/],
    ['metrics:\n  OH-001:\n    limt: 5', /^gate\.yaml:3:11: .*received 'limt': did you mean limit\?$/],
    [
      'metrics:\n  OH-001: { limit: 5 us }',
      /^gate\.yaml:2:20: Expected limit of OH-001 to be a number in the metric's unit but received '5 us'\.$/,
    ],
    [
      'metrics:\n  OH-*: { limit: 5 }',
      /^gate\.yaml:2:18: Expected limit to be of metrics with one unit .* us, ns, %: give each its own\.$/,
    ],
    [
      'metrics:\n  OH-005: { maxRegression: 5 }',
      /^gate\.yaml:2:28: Expected maxDifference, in ns, but received maxRegression/,
    ],
    [
      'metrics:\n  OH-001: { maxDifference: 5 }',
      /^gate\.yaml:2:28: Expected maxRegression, in %, but received maxDifference/,
    ],
    ['metrics:\n  OH-*: { maxDifference: 5 }', /Expected maxDifference to be of metrics with one unit/],
    ['5', /^gate\.yaml:1:1: Expected a map with keys maxRegression, inconclusive/],
    ['- OH-001', /Expected a map with keys/],
    ['a: 1\n---\nb: 2', /Expected YAML but /],
    ['inconclusive: pass\ninconclusive: fail', /^gate\.yaml:2:1: Expected YAML but .*unique/],
    ['__proto__: { polluted: yes }', /received '__proto__'/],
    ['metrics: { __proto__: { limit: 1 } }', /received '__proto__'/],
    ['metrics: { OH-001: { constructor: 1 } }', /received 'constructor'/],
    ['metrics: &a { OH-001: *a }', /the alias 'a' contains itself/],
    ['<<: &a { inconclusive: fail }', /received '<<'/],
    ['maxRegression: !!js/function "x"', /^gate\.yaml:1:16: Expected YAML without tags/],
  ])('are refused with their place: %j', (text, message) => expect(refusal(text)).toMatch(message));

  it('allow no limit for a metric without a direction', () => {
    const aimless = { ...metric('OH-001'), direction: 'none' as const };
    expect(refusal('metrics: { OH-001: { limit: 5 } }', [aimless])).toMatch(
      /received it for OH-001, for which neither more nor less is worse: remove it\.$/,
    );
    expect(parse('metrics: { OH-001: { maxRegression: 5 } }', [aimless]).metrics.get('OH-001')?.regression).toBeNull();
  });

  it('refuse alias bombs and deep nesting', () => {
    const levels = Array.from({ length: 9 }, (_, i) => `l${i + 1}: &l${i + 1} [${Array(9).fill(`*l${i}`).join(', ')}]`);
    expect(refusal(['l0: &l0 [x, x]', ...levels, 'metrics: *l9'].join('\n'))).toMatch(
      /^gate\.yaml:7:9: .* with what aliases name/,
    );
    expect(refusal(`metrics: ${'['.repeat(50_000)}`)).toMatch(/^gate\.yaml:|cannot be read/);
  });

  it('are not read from a huge file, a device or a directory', async () => {
    const folder = temporaryFolder();
    const huge = join(folder, 'huge.yaml');
    writeFileSync(huge, `# ${'x'.repeat(2 ** 20)}`);
    mkdirSync(join(folder, 'directory'));
    for (const file of [huge, '/dev/zero', join(folder, 'directory'), join(folder, 'nowhere')])
      await expect(readThresholds(file, '--gate', metrics)).rejects.toThrow(/^Expected --gate to be a YAML file/);
  });

  it('never crash on any text', () => {
    const keys = fc.constantFrom('maxRegression', 'inconclusive', 'missing', 'systems', 'metrics', '__proto__', 'x');
    const leaves = fc.oneof(fc.string(), fc.double(), fc.constantFrom('pass', 'fail', 'off', 'OH-001', 'OH-*', null));
    const trees = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        leaves,
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(
          fc.oneof(keys, fc.constantFrom('OH-001', 'OH-*', 'limit', 'maxDifference'), fc.string()),
          tie('tree'),
        ),
      ),
    }));
    fc.assert(
      fc.property(fc.dictionary(keys, trees.tree), (tree) => void refusal(JSON.stringify(tree))),
      { numRuns: 120 },
    );
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => void refusal(text)),
      { numRuns: 120 },
    );
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('return the written numbers', () =>
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1000, noNaN: true }),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        (percent, limit) => {
          const found = of(JSON.stringify({ metrics: { 'OH-001': { maxRegression: percent, limit } } }), 'OH-001');
          expect(found).toMatchObject({ limit: limit === 0 ? 0 : limit, regression: { relative: percent / 100 } });
        },
      ),
    ));
});
