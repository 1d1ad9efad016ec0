/** The result of a gate as JUnit XML for CI services: one suite per system, one test case per threshold. */
import type { Case, GateDocument } from '../../gate/document.js';
import { type Markup, trusted, xml } from '../text/markup.js';
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
  return `${xml`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="gpu-virt-bench gate" ${counts(found.cases)}>
${suites}</testsuites>`}\n`;
}

/** Writes one error if there are no cases, because readers would take an empty file for a pass. */
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

/** Converts a case to JUnit: an error is a failed measurement, a failure a threshold that is not met. */
function resultOf({ outcome, countsAs, kind }: Case): Result {
  if (countsAs === 'failed')
    return outcome === 'invalid' || (kind === 'measured' && outcome === 'failed') ? 'error' : 'failure';
  return outcome === 'not measured' ? 'skipped' : 'passed';
}

function counts(cases: readonly Case[]): Markup {
  const of = (result: Result) => cases.filter((each) => resultOf(each) === result).length;
  return xml`tests="${cases.length}" failures="${of('failure')}" errors="${of('error')}" skipped="${of('skipped')}"`;
}

function suite(found: GateDocument, system: string, cases: readonly Case[]): Markup {
  const { now } = found.environments;
  const facts: Property[] = [
    ...(found.simulated ? [['simulated', WATERMARK] as const] : []),
    ['gpu', now.gpu],
    ['driver', now.driver],
    ['baseline', found.baseline ?? 'the first system of the comparison'],
    ['tool', `${found.tool.name} ${found.tool.version}`],
    ...found.warnings.map((warning) => ['warning', warning] as const),
  ];
  return xml`  <testsuite name="${system}" timestamp="${found.startedAt.slice(0, 19)}" ${counts(cases)}>
${properties(facts, '    ')}${cases.map(testCase)}  </testsuite>
`;
}

type Property = readonly [name: string, value: string | number];

const properties = (list: readonly Property[], indent: string): Markup =>
  xml`${indent}<properties>
${list.map(([name, value]) => xml`${indent}  <property name="${name}" value="${value}"/>\n`)}${indent}</properties>
`;

function testCase(each: Case): Markup {
  const { metric, name, system, threshold, value, unit, interval } = each;
  const facts: Property[] = [
    ...(value === null ? [] : [['value', value] as const]),
    ['unit', unit],
    ...(interval?.map((end, i) => [i === 0 ? 'ci95.low' : 'ci95.high', end] as const) ?? []),
  ];
  return xml`    <testcase classname="gpu-virt-bench.${system}" name="${metric} ${name}: ${threshold}">
${properties(facts, '      ')}${outcomeMarkup(each)}    </testcase>
`;
}

function outcomeMarkup(each: Case): Markup {
  const { outcome, reason, improvement } = each;
  const result = resultOf(each);
  if (result === 'passed')
    return xml`      <system-out>${[outcome, reason, improvement].filter(Boolean).join(': ')}</system-out>\n`;
  if (result === 'skipped') return xml`      <skipped message="${reason}"/>\n`;
  return xml`      <${trusted(result)} type="${outcome}" message="${reason}"/>\n`;
}
