/** The result of a gate as JUnit XML for CI services: one suite per system, one test case per threshold. */
import type { Case, GateDocument } from '../gate/document.js';
import { type Markup, xml } from './markup.js';
import { WATERMARK } from './terminal.js';

export function junitReport(found: GateDocument): string {
  const systems = [...new Set(found.cases.map(({ system }) => system))];
  const suites = systems.map((system) =>
    suite(
      found,
      system,
      found.cases.filter((each) => each.system === system),
    ),
  );
  const { tests, failures, errors, skipped } = counts(found.cases);
  return `${xml`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="gpu-virt-bench gate" tests="${tests}" failures="${failures}" errors="${errors}" skipped="${skipped}">
${suites}</testsuites>`}\n`;
}

/** If there are no cases: one error, because readers would take an empty file for a pass. */
export function unjudgedJunitReport(type: string, reason: string): string {
  return `${xml`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="gpu-virt-bench gate" tests="1" failures="0" errors="1" skipped="0">
  <testsuite name="gpu-virt-bench gate" tests="1" failures="0" errors="1" skipped="0">
    <testcase classname="gpu-virt-bench" name="the comparison is judged">
      <error type="${type}" message="${reason}"/>
    </testcase>
  </testsuite>
</testsuites>`}\n`;
}

type Result = 'failure' | 'error' | 'skipped' | 'passed';

/** An error is a failed measurement; a failure is a threshold that is not met. */
function resultOf({ outcome, countsAs, kind }: Case): Result {
  if (countsAs === 'failed')
    return outcome === 'invalid' || (kind === 'measured' && outcome === 'failed') ? 'error' : 'failure';
  return outcome === 'not measured' ? 'skipped' : 'passed';
}

function counts(cases: readonly Case[]) {
  const of = (result: Result) => cases.filter((each) => resultOf(each) === result).length;
  return { tests: cases.length, failures: of('failure'), errors: of('error'), skipped: of('skipped') };
}

function suite(found: GateDocument, system: string, cases: readonly Case[]): Markup {
  const { tests, failures, errors, skipped } = counts(cases);
  const { now } = found.environments;
  const facts: [string, string][] = [
    ...(found.simulated ? [['simulated', WATERMARK] as [string, string]] : []),
    ['gpu', now.gpu],
    ['driver', now.driver],
    ['baseline', found.baseline ?? 'the first system of the comparison'],
    ['tool', `${found.tool.name} ${found.tool.version}`],
    ...found.warnings.map((warning): [string, string] => ['warning', warning]),
  ];
  return xml`  <testsuite name="${system}" timestamp="${found.startedAt.slice(0, 19)}" tests="${tests}" failures="${failures}" errors="${errors}" skipped="${skipped}">
    <properties>
${facts.map(([name, value]) => property(name, value, '      '))}    </properties>
${cases.map(testCase)}  </testsuite>
`;
}

const property = (name: string, value: string | number, indent: string): Markup =>
  xml`${indent}<property name="${name}" value="${value}"/>\n`;

function testCase(each: Case): Markup {
  const { metric, name, system, threshold, value, unit, interval } = each;
  const properties: [string, string | number][] = [
    ...(value === null ? [] : [['value', value] as [string, number]]),
    ['unit', unit],
    ...(interval === null
      ? []
      : ([
          ['ci95.low', interval[0]],
          ['ci95.high', interval[1]],
        ] as [string, number][])),
  ];
  return xml`    <testcase classname="gpu-virt-bench.${system}" name="${metric} ${name}: ${threshold}">
      <properties>
${properties.map(([key, content]) => property(key, content, '        '))}      </properties>
${outcomeMarkup(each)}    </testcase>
`;
}

function outcomeMarkup(each: Case): Markup {
  const { outcome, reason, improvement } = each;
  switch (resultOf(each)) {
    case 'failure':
      return xml`      <failure type="${outcome}" message="${reason}"/>\n`;
    case 'error':
      return xml`      <error type="${outcome}" message="${reason}"/>\n`;
    case 'skipped':
      return xml`      <skipped message="${reason}"/>\n`;
    case 'passed':
      return xml`      <system-out>${[outcome, reason, improvement].filter(Boolean).join(': ')}</system-out>\n`;
  }
}
