import { describe, expect, it } from 'vitest';
import type { MetricResult } from '../../../lib/results/document.js';
import { gate, gateOfReport } from '../../../lib/gate/gate.js';
import { parseThresholds } from '../../../lib/gate/thresholds-file.js';
import { defaultThresholds } from '../../../lib/gate/thresholds.js';
import { metrics } from '../../../lib/metrics/registry.js';
import type { MetricDefinition } from '../../../lib/metrics/core/metric.js';
import { junitReport } from '../../../lib/report/formats/junit.js';
import type { ResultDocument } from '../../../lib/results/kinds.js';
import { about, comparison, measured, type Values, without } from './fixtures.js';
import { runDocument } from '../run/fixtures.js';

const judged = (document: ResultDocument, yaml?: string, all: readonly MetricDefinition[] = metrics) =>
  gate(document, yaml === undefined ? defaultThresholds(all) : parseThresholds(yaml, 'gate.yaml', all), null, all);

const outcomes = (values: Values, yaml?: string) =>
  judged(comparison(values), yaml).cases.map(
    ({ metric, system, kind, outcome, countsAs }) => `${system} ${metric} ${kind}: ${outcome}, ${countsAs}`,
  );

const native = (value = 5) => ({ 'OH-001': about(value) });
const noisy = [5, 6, 5.2, 6.1, 5.1];

describe('a violation', () => {
  const detail = '12 GiB were held under a limit of 10 GiB';
  const over = (value: number | null): Partial<MetricResult> => ({ value, violations: [{ detail }] });

  it.each([
    ['where the value is as good as ever', undefined],
    ['where no threshold is asked of its metric', 'metrics: { OH-002: { limit: 1 } }'],
    ['where what is missing counts as passed', 'missing: pass'],
  ])('fails the gate %s', (_, yaml) => {
    const values = { native: native(), layer: { 'OH-001': about(5).map((value) => over(value as number)) } };
    expect(outcomes(values, yaml)).toContain('layer OH-001 violation: failed, failed');
    const found = judged(comparison(values), yaml);
    expect(found.passed).toBe(false);
    expect(junitReport(found)).toMatch(/<failure[^>]*12 GiB were held/);
  });

  it('of the reference system also fails the gate', () =>
    expect(outcomes({ native: { 'OH-001': [over(5), 5, 5] }, layer: native() })).toContain(
      'native OH-001 violation: failed, failed',
    ));

  it('is one case, in addition to those of the thresholds', () => {
    const values = { native: native(), layer: { 'OH-001': about(6).map((value) => over(value as number)) } };
    expect(outcomes(values, 'metrics: { OH-001: { limit: 5.5 } }')).toEqual([
      'layer OH-001 violation: failed, failed',
      'layer OH-001 limit: failed, failed',
      'layer OH-001 regression: failed, failed',
    ]);
  });

  it('does not replace the value of a metric that was not measured', () => {
    const unmeasured = { ...without('unsupported', 'too small'), violations: [{ detail }] };
    expect(outcomes({ native: native(), layer: { 'OH-001': [unmeasured] } })).toEqual([
      'layer OH-001 violation: failed, failed',
      'layer OH-001 measured: not measured, passed',
    ]);
  });
});

describe('a regression', () => {
  it.each([
    ['whole beyond 10 %', about(6), 'failed, failed'],
    ['whole within', about(5.2), 'passed, passed'],
    ['in doubt', noisy, 'inconclusive, passed'],
    ['better', about(4), 'passed, passed'],
  ])('%s', (_, values, expected) =>
    expect(outcomes({ native: native(), layer: { 'OH-001': values } })).toEqual([
      `layer OH-001 regression: ${expected}`,
    ]),
  );

  it('that is inconclusive counts as configured, for one metric or for all', () => {
    const values = { native: native(), layer: { 'OH-001': noisy } };
    for (const yaml of ['inconclusive: fail', 'metrics: { OH-001: { inconclusive: fail } }'])
      expect(outcomes(values, yaml)).toEqual(['layer OH-001 regression: inconclusive, failed']);
    expect(outcomes(values, '{ inconclusive: fail, metrics: { OH-*: { inconclusive: pass } } }')).toEqual([
      'layer OH-001 regression: inconclusive, passed',
    ]);
  });

  it('depends on the direction of the metric', () => {
    const higher = metrics.map((metric) =>
      metric.id === 'OH-001' ? { ...metric, direction: 'higher' as const } : metric,
    );
    const document = comparison({ native: native(), layer: native(4) });
    const [effect] = document.effects;
    const interval: [number, number] = [1.24, 1.26];
    const worse = { ...effect, ratio: 1.25, ratioCi90: interval, ratioCi95: interval } as NonNullable<typeof effect>;
    expect(judged({ ...document, effects: [worse] }, undefined, higher).passed).toBe(false);
  });

  it('of values that may be zero is a difference in their unit', () => {
    const values = (now: number) => ({
      native: { 'OH-005': [0, 0.1, -0.1, 0, 0] },
      layer: { 'OH-005': [0, 0.1, -0.1, 0, 0].map((noise) => now + noise) },
    });
    expect(outcomes(values(40))).toEqual(['layer OH-005 regression: failed, failed']);
    // Beyond the metric's δ of 5 ns, which noise alone can reach.
    expect(outcomes(values(8))).toEqual(['layer OH-005 regression: passed, passed']);
    expect(outcomes(values(8), 'metrics: { OH-005: { maxDifference: 20 } }')).toEqual([
      'layer OH-005 regression: passed, passed',
    ]);
    expect(judged(comparison(values(8))).cases[0]).toMatchObject({
      unit: 'ns',
      threshold: 'at most 25 ns worse than native (maxDifference: 25)',
    });
    expect(judged(comparison(values(-40))).cases[0]?.improvement).toMatch(
      /^-40\.00 ns .* better than native by more than 25 ns$/,
    );
  });

  it('that is a difference depends on the direction of the metric', () => {
    const higher = metrics.map((metric) =>
      metric.id === 'OH-005' ? { ...metric, direction: 'higher' as const } : metric,
    );
    const noise = [0, 0.1, -0.1, 0, 0];
    const caseOf = (now: number) =>
      judged(
        comparison({ native: { 'OH-005': noise }, layer: { 'OH-005': noise.map((each) => now + each) } }),
        undefined,
        higher,
      ).cases[0];
    expect(caseOf(-40)).toMatchObject({ outcome: 'failed', countsAs: 'failed' });
    expect(caseOf(40)).toMatchObject({
      outcome: 'passed',
      improvement: expect.stringMatching(/^\+40\.00 ns .* better than/),
    });
  });

  it.each([5, 50])('never passes on one round with %d us under the layer', (value) => {
    const document = comparison({ native: { 'OH-001': [5] }, layer: { 'OH-001': [value] } });
    for (const yaml of ['', 'inconclusive: pass']) {
      const { cases, passed } = judged(document, yaml);
      const reason = 'one round gives no interval: measure more rounds, e.g. with --rounds 5';
      expect(cases).toMatchObject([{ outcome: 'inconclusive', countsAs: 'failed', reason }]);
      expect(passed).toBe(false);
    }
  });

  it('reports an improvement of more than 10 %', () => {
    const improvementOf = (value: number) =>
      judged(comparison({ native: native(), layer: native(value) })).cases[0]?.improvement;
    expect(improvementOf(4)).toMatch(/^× 0\.8000 \(.*\) is better than native by more than 10 %$/);
    expect(improvementOf(4.8)).toBeUndefined();
  });

  it('in per cent is inconclusive if values are not above zero, with the reason', () =>
    expect(judged(comparison({ native: native(), layer: { 'OH-001': [5, 0, 5, 5, 5] } })).cases).toMatchObject([
      {
        outcome: 'inconclusive',
        countsAs: 'failed',
        reason: 'not all values are above zero, so there is no ratio: give a limit and maxRegression: off',
      },
    ]));

  it('is not judged if it is off', () => {
    const values = {
      native: { 'OH-001': about(5), 'OH-002': about(5) },
      layer: { 'OH-001': about(50), 'OH-002': about(5) },
    };
    const yaml = '{ maxRegression: off, metrics: { OH-002: { maxRegression: 5 } } }';
    expect(outcomes(values, yaml)).toEqual(['layer OH-002 regression: passed, passed']);
  });

  it('judges only the requested systems', () => {
    const values = { native: native(), a: native(50), b: native() };
    expect(outcomes(values, 'systems: [b]')).toEqual(['b OH-001 regression: passed, passed']);
  });
});

describe('a limit', () => {
  const limit = (worst: number) => `{ maxRegression: off, metrics: { OH-001: { limit: ${worst} } } }`;
  it.each([
    [6, 'passed, passed'],
    [4, 'failed, failed'],
    [5.001, 'inconclusive, passed'],
  ])('of %d us', (worst, expected) =>
    expect(outcomes({ native: native(50), layer: native() }, limit(worst))).toEqual([
      `layer OH-001 limit: ${expected}`,
    ]),
  );

  it('of a metric for which more is better is the least allowed value', () => {
    const higher = metrics.map((metric) =>
      metric.id === 'OH-001' ? { ...metric, direction: 'higher' as const } : metric,
    );
    const document = comparison({ native: native(50), layer: native() });
    const caseOf = (worst: number) => judged(document, limit(worst), higher).cases[0];
    expect(caseOf(4)).toMatchObject({ outcome: 'passed', threshold: 'at least 4 us' });
    expect(caseOf(6)).toMatchObject({ outcome: 'failed' });
  });

  it.each([null, [4.9, 5.1], [4.9, 4.95]] as const)('never passes on one round with the interval %j', (ci95) => {
    const found = judged(runDocument({ metrics: [{ ...measured('OH-001', 5), ci95: ci95 && [...ci95] }] }), limit(5.2));
    expect(found.cases).toMatchObject([{ outcome: 'inconclusive', countsAs: 'failed', value: 5 }]);
    expect(found.cases[0]?.reason).toMatch(/is within the limit, but it has a value in one round only: .*--rounds 5$/);
    expect(found.passed).toBe(false);
  });

  it('fails on one round that is beyond it', () =>
    expect(judged(runDocument({ metrics: [measured('OH-001', 5)] }), limit(4)).cases).toMatchObject([
      { outcome: 'failed', countsAs: 'failed' },
    ]));

  it('never passes a metric without a threshold on one round', () =>
    expect(
      judged(comparison({ native: native(), layer: { 'OH-001': [5] } }), '{ maxRegression: off, metrics: { OH-001: } }')
        .cases,
    ).toMatchObject([{ outcome: 'inconclusive', countsAs: 'failed' }]));

  it.each([
    ['a value within, an interval beyond', 5, [6, 7], 5.5],
    ['a value beyond, an interval within', 6, [4, 5], 5.5],
  ] as const)('leaves in doubt what an interval that does not hold its value says: %s', (_, value, ci95, worst) => {
    const run = runDocument({ metrics: [{ ...measured('OH-001', value), ci95: [...ci95] }] });
    expect(judged(run, limit(worst)).cases).toMatchObject([{ outcome: 'inconclusive', value, interval: ci95 }]);
  });

  it('is the only check for a run of one system, which has no reference', () =>
    expect(
      judged(runDocument({ metrics: [measured('OH-001', 5)] }), 'metrics: { OH-001: { limit: 6 } }').cases.map(
        ({ kind }) => kind,
      ),
    ).toEqual(['limit']));

  it('applies to the first system of a comparison if it is named', () =>
    expect(
      outcomes({ native: native(50), layer: native() }, `{ systems: [native], metrics: { OH-001: { limit: 6 } } }`),
    ).toEqual(['native OH-001 limit: failed, failed']));
});

describe('a metric without a value', () => {
  it('fails the gate if it failed or is invalid in any round of any system', () => {
    const failed = without('failed', 'cuInit returned 999');
    const values = {
      native: { 'OH-001': about(5), 'OH-002': [1, 1, 1, 1, without('invalid', 'clock mapping')] },
      layer: { 'OH-001': [...about(5).slice(1), failed], 'OH-002': about(1) },
    };
    const { cases, passed } = judged(comparison(values));
    expect(passed).toBe(false);
    expect(cases.map(({ system, metric, kind, outcome, reason }) => [system, metric, kind, outcome, reason])).toEqual([
      ['native', 'OH-002', 'measured', 'invalid', 'invalid: clock mapping (in 1 of 5 rounds)'],
      ['layer', 'OH-001', 'measured', 'failed', 'failed: cuInit returned 999 (in 1 of 5 rounds)'],
      ['layer', 'OH-001', 'regression', 'passed', expect.any(String)],
      ['layer', 'OH-002', 'regression', 'invalid', 'clock mapping'],
    ]);
  });

  it('reports an invalid system once', () => {
    const invalid = { 'OH-001': about(5).map(() => without('invalid', 'layer not active')) };
    expect(outcomes({ native: native(), layer: invalid })).toEqual(['layer OH-001 measured: invalid, failed']);
  });

  it('has no other case if it failed in every round', () => {
    const failed = { 'OH-001': about(5).map(() => without('failed', 'x')) };
    expect(outcomes({ native: native(), layer: failed })).toEqual(['layer OH-001 measured: failed, failed']);
  });

  it('is required by a name without a threshold: then a value is enough', () =>
    expect(outcomes({ native: native(), layer: native(50) }, '{ maxRegression: off, metrics: { OH-001: } }')).toEqual([
      'layer OH-001 measured: passed, passed',
    ]));

  it('passes if it is unsupported, unless it is named', () => {
    const values = {
      native: native(),
      layer: { ...native(), 'OH-008': [1, 2, 3, 4, 5].map(() => without('unsupported', 'no compute limit')) },
    };
    const last = (yaml?: string) => outcomes(values, yaml).at(-1);
    expect(last()).toBe('layer OH-008 measured: not measured, passed');
    expect(last('metrics: { OH-008: }')).toBe('layer OH-008 measured: not measured, failed');
    expect(last('{ missing: pass, metrics: { OH-008: } }')).toBe('layer OH-008 measured: not measured, passed');
    expect(last('metrics: { OH-*: { maxRegression: 10 } }')).toBe('layer OH-008 measured: not measured, passed');
  });

  it('fails if it is named but was not requested', () => {
    const { cases } = judged(comparison({ native: native(), layer: native() }), 'metrics: { START-001: }');
    expect(cases.at(-1)).toMatchObject({ metric: 'START-001', countsAs: 'failed', reason: 'it was not requested' });
  });

  it('that is a difference to native is judged by it, and native itself is not judged', () => {
    const arm = (unitsPerSecond: number) =>
      Array.from({ length: 5 }, () => ({
        ...without('unsupported', 'needs a native arm'),
        details: { unitsPerSecond },
      }));
    const found = outcomes(
      { native: { 'OH-010': arm(100) }, layer: { 'OH-010': arm(90) } },
      '{ systems: [native, layer], metrics: { OH-010: } }',
    );
    expect(found).toEqual(['layer OH-010 regression: failed, failed']);
    const alike = comparison({ native: { 'OH-010': arm(100) }, layer: { 'OH-010': arm(100) } });
    expect(judged(alike, 'systems: [native, layer]')).toMatchObject({ passed: true, warnings: [] });
  });
});

describe('a gate', () => {
  it('refuses a document without anything to judge', () =>
    expect(() => judged(runDocument({ metrics: [measured('OH-001', 5)] }))).toThrow(
      /^Expected --baseline, or limits in --config, but received neither: 'environment' is the only system/,
    ));

  it('refuses an interrupted run', () =>
    expect(() => judged(comparison({ native: native(), layer: native() }, { document: { completed: false } }))).toThrow(
      /finished measurement but received one that was interrupted: continue it with compare --resume/,
    ));

  it('refuses an unknown system, with its place in the file', () =>
    expect(() => judged(comparison({ native: native(), 'hami-core': native() }), 'systems:\n  - hamicore')).toThrow(
      /^gate\.yaml:2:5: Expected a system that is measured but received 'hamicore': did you mean hami-core\?$/,
    ));

  it('refuses thresholds that judge nothing', () => {
    const document = comparison({ native: native(), layer: native() });
    for (const yaml of ['maxRegression: off', 'systems: [native]'])
      expect(() => judged(document, yaml)).toThrow(/^No threshold applies to anything that was measured/);
  });

  it('reports unknown metrics', () => {
    const document = comparison({ native: native(), layer: native() });
    document.systems[0]?.[0]?.metrics.push({ ...measured('OH-001', 5), id: 'ZZ-001' });
    expect(judged(document).warnings).toEqual([
      'ZZ-001 is unknown to this version of gpu-virt-bench and is not checked.',
    ]);
  });

  const unsupported = { 'OH-001': [without('unsupported', 'library not available')] };
  it.each<[string, Values, string]>([
    [
      'of which everything is unsupported',
      { native: native(), layer: unsupported },
      'unsupported: library not available',
    ],
    ['without a round', { native: native(), layer: {} }, 'it was not requested'],
    ['whose reference has no round', { native: {}, layer: native() }, 'native has no value to compare with'],
  ])('fails for a system %s', (_, values, reason) => {
    const { passed, cases, warnings } = judged(comparison(values));
    expect(cases).toMatchObject([{ system: 'layer', outcome: 'not measured', countsAs: 'failed', reason }]);
    expect({ passed, warnings }).toEqual({
      passed: false,
      warnings: [
        `No metric of layer was checked, so the gate fails: ${reason}. Make it measurable, or list only the other systems under systems in the thresholds.`,
      ],
    });
  });

  it('fails for such a system even if others pass, unless the thresholds leave it out', () => {
    const values = { native: native(), a: native(), b: unsupported };
    expect(judged(comparison(values), 'missing: pass').passed).toBe(false);
    expect(judged(comparison(values), 'systems: [a]')).toMatchObject({ passed: true, warnings: [] });
  });

  it('refuses a listed system to which no threshold applies', () => {
    const document = comparison({ native: native(), layer: native() });
    expect(() => judged(document, 'systems: [native, layer]')).toThrow(
      /^No threshold applies to system 'native': give limits/,
    );
    expect(judged(document, '{ systems: [native, layer], metrics: { OH-001: { limit: 6 } } }').passed).toBe(true);
  });

  it('accepts one round in a report without a gate', () => {
    const { passed, warnings } = gateOfReport(comparison({ native: { 'OH-001': [5] }, layer: unsupported }), metrics);
    expect({ passed, warnings }).toEqual({
      passed: true,
      warnings: ['Nothing was measured that the gate could check.'],
    });
    const partly = { ...unsupported, 'OH-002': about(5) };
    expect(gateOfReport(comparison({ native: partly, layer: partly }), metrics).warnings).toEqual([]);
  });
});
