import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Case, GateDocument } from '../../../lib/gate/document.js';
import { gate } from '../../../lib/gate/gate.js';
import { parseThresholds } from '../../../lib/gate/thresholds-file.js';
import { metrics } from '../../../lib/metrics/registry.js';
import { gateReport } from '../../../lib/report/formats/gate.js';
import { junitReport } from '../../../lib/report/formats/junit.js';
import { escape, xml } from '../../../lib/report/text/markup.js';
import { about, comparison, without } from '../gate/fixtures.js';

const golden = (name: string) => join(fileURLToPath(new URL('../../golden', import.meta.url)), name);

/** Every possible outcome. */
function everything(): GateDocument {
  const document = comparison({
    native: { 'OH-001': about(5), 'OH-002': about(20), 'OH-003': about(7), 'OH-004': about(9) },
    'a <layer> & "its" name': {
      'OH-001': about(8),
      'OH-002': [20, 26, 21, 25, 20],
      'OH-003': about(5),
      'OH-004': [...about(9).slice(1), without('failed', "cuInit returned '999'")],
      'OH-008': [without('unsupported', 'the layer has no compute limit')],
    },
  });
  return gate(document, parseThresholds('metrics: { OH-001: { limit: 6 } }', 'gate.yaml', metrics), null, metrics);
}

interface TestCase {
  name: string;
  classname: string;
  failure?: { type: string; message: string };
  error?: { type: string; message: string };
  skipped?: { message: string };
  'system-out'?: string;
  properties?: { property: { name: string; value: string }[] };
}

function parsed(text: string) {
  expect(XMLValidator.validate(text)).toBe(true);
  const parser = new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: '',
    htmlEntities: true,
    isArray: (name) => ['testsuite', 'testcase', 'property'].includes(name),
  });
  return parser.parse(text) as {
    testsuites: Record<'tests' | 'failures' | 'errors' | 'skipped', string> & {
      testsuite?: { name: string; testcase: TestCase[] }[];
    };
  };
}

describe('JUnit XML', () => {
  it('matches its golden file', async () => expect(junitReport(everything())).toMatchFileSnapshot(golden('gate.xml')));

  it('has a test case per threshold, according to another parser', () => {
    const { testsuites } = parsed(junitReport(everything()));
    const { tests, failures, errors, skipped } = testsuites;
    expect({ tests, failures, errors, skipped }).toEqual({ tests: '7', failures: '2', errors: '1', skipped: '1' });
    const [suite] = testsuites.testsuite ?? [];
    expect(suite?.name).toBe('a <layer> & "its" name');
    expect(suite?.testcase.map(({ name }) => name)).toEqual([
      'OH-001 Kernel Launch Latency: at most 6 us',
      'OH-001 Kernel Launch Latency: at most 10 % worse than native (maxRegression: 10)',
      'OH-002 Memory Allocation Latency: at most 10 % worse than native (maxRegression: 10)',
      'OH-003 Memory Free Latency: at most 10 % worse than native (maxRegression: 10)',
      'OH-004 Context Creation Overhead: measured',
      'OH-004 Context Creation Overhead: at most 10 % worse than native (maxRegression: 10)',
      'OH-008 Rate Limiter Overhead: measured',
    ]);
    expect(suite?.testcase[0]).toMatchObject({
      classname: 'gpu-virt-bench.a <layer> & "its" name',
      failure: { type: 'failed', message: expect.stringMatching(/^8\.000 us \(.*\) is beyond the limit$/) },
    });
    expect(suite?.testcase[0]?.properties?.property.map(({ name }) => name)).toEqual([
      'value',
      'unit',
      'ci95.low',
      'ci95.high',
    ]);
    expect(suite?.testcase[2]?.['system-out']).toMatch(/^inconclusive: × /);
    expect(suite?.testcase[3]?.['system-out']).toMatch(/better than native by more than 10 %$/);
    expect(suite?.testcase[4]?.error).toEqual({
      type: 'failed',
      message: "failed: cuInit returned '999' (in 1 of 5 rounds)",
    });
    expect(suite?.testcase[6]?.skipped?.message).toBe('unsupported: the layer has no compute limit');
  });

  it('is well-formed for any names, reasons and numbers', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('\0', '\uD800', ']]>', '<!--', '\uFFFF', '&#0;'),
    );
    const one = fc.record<Case>({
      metric: text,
      name: text,
      system: text,
      kind: fc.constantFrom('measured', 'limit', 'regression'),
      threshold: text,
      outcome: fc.constantFrom('passed', 'failed', 'inconclusive', 'not measured', 'invalid'),
      countsAs: fc.constantFrom('passed', 'failed'),
      value: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true })),
      interval: fc.option(fc.tuple(fc.double(), fc.double())),
      unit: text,
      reason: text,
    });
    const document = everything();
    fc.assert(
      fc.property(fc.array(one, { maxLength: 5 }), (cases) => {
        const report = junitReport({ ...document, cases });
        expect(report).not.toMatch(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u);
        const found = parsed(report).testsuites.testsuite ?? [];
        expect(found.flatMap((suite) => suite.testcase)).toHaveLength(cases.length);
      }),
      { numRuns: 30 },
    );
  });
});

describe('markup', () => {
  it('escapes its input, and nothing twice', () => {
    const inner = xml`<b>${'<&>"\''}</b>`;
    expect(String(xml`<a x="${'"'}">${inner}${[inner, null, undefined, false]}${0}</a>`)).toBe(
      '<a x="&quot;"><b>&lt;&amp;&gt;&quot;&#39;</b><b>&lt;&amp;&gt;&quot;&#39;</b>0</a>',
    );
  });
  it('drops characters that XML does not allow', () =>
    expect(escape('a\0b\u001Bc\uD800d\uFFFEe\n\t😀')).toBe('abcde\n\t😀'));
});

describe('the report of a gate', () => {
  it('begins with failures, reports improvements, and counts outcomes', () => {
    const report = gateReport(everything());
    const outcomes = [...report.matchAll(/^(FAILED|passed \(inconclusive\)|passed|not measured) {2}/gm)].map(
      ([, word]) => word,
    );
    expect(outcomes).toEqual([
      'FAILED',
      'FAILED',
      'FAILED',
      'passed (inconclusive)',
      'passed',
      'passed',
      'not measured',
    ]);
    expect(report).toMatch(/^IMPROVED: a <layer> & "its" name, OH-003: × 0\.7143/m);
    expect(report).toMatch(
      /^Gate FAILED: 3 failed, 1 inconclusive \(counts as passed\), 2 passed, 1 not measured \(counts as passed\)\.$/m,
    );
    const found = everything();
    const [missing] = found.cases.filter(({ outcome }) => outcome === 'not measured') as [Case];
    const cases = [missing, missing, { ...missing, countsAs: 'failed' as const }];
    const summary = (some: Case[]) =>
      gateReport({ ...found, cases: some })
        .split('\n')
        .at(-1);
    expect(summary(cases)).toBe('Gate FAILED: 3 not measured (1 of them counts as failed).');
    expect(summary([...cases, ...cases])).toBe('Gate FAILED: 6 not measured (2 of them count as failed).');
  });
});
