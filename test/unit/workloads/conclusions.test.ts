import { describe, expect, it } from 'vitest';
import type { Check, ComparisonDocument } from '../../../lib/results/document.js';
import { withLabels, withWarnings } from '../../../lib/workloads/metrics/conclusions.js';
import { UNDER_SYSTEM } from '../../../lib/workloads/round/round-of-runs.js';
import { comparison } from '../report/fixtures.js';
import { result } from '../run/fixtures.js';

const seen = (passed: Check['passed'], detail = 'it does not show (2 of 2 runs)'): Check => ({
  name: UNDER_SYSTEM,
  passed,
  detail,
});

/** `checks` of the only result of each system. */
function measured(checks: Record<string, Check[]>, value: number | null = 1): ComparisonDocument {
  const document = comparison(
    Object.entries(checks).map(([name, own]) => ({ name, metrics: () => [result('w/wall', { value, checks: own })] })),
  );
  return { ...document, warnings: [] };
}

describe('a system whose programs could not be looked at', () => {
  const found = withLabels(measured({ native: [seen(true)], mps: [seen('not checked')] }));

  it('is unverified, everywhere in the document', () => {
    expect(found.plan.systems).toEqual(['native', 'mps (unverified)']);
    expect(found.systems.map((rounds) => rounds.map(({ system }) => [system.name, system.verified]))).toEqual([
      Array.from({ length: 3 }, () => ['native', undefined]),
      Array.from({ length: 3 }, () => ['mps (unverified)', false]),
    ]);
    expect(JSON.stringify(found.effects)).not.toContain('"mps"');
  });

  it('has a warning that says why', () => {
    expect(found.warnings).toEqual(['mps is shown as mps (unverified): it does not show.']);
  });

  it('keeps its name where a look failed or nothing was measured', () => {
    for (const document of [
      measured({ native: [seen(true)], mine: [seen(false)] }),
      measured({ native: [seen(true)], mine: [seen('not checked')] }, null),
    ])
      expect(withLabels(document)).toBe(document);
  });
});

it('checks of runs that did not hold are warnings, once a system and program', () => {
  const vary = { name: 'runs vary by at most 5 %', passed: false, detail: '12.0 %' };
  expect(withWarnings(measured({ native: [seen(true), vary], mine: [seen(true)] })).warnings).toEqual([
    'native, w: runs vary by more than 5 % in 3 of 3 rounds (12.0 %)',
  ]);
});

it('names the system and the program of a note, and one of those that differ in numbers alone', () => {
  const notes = ["'logs/run-0001.stdout' holds", '3 of 9 numbers', "'logs/run-0002.stdout' holds"];
  const noted = (name: string, some: string[]) => ({
    name,
    metrics: () => [result('w/wall', { value: 1, checks: [], details: { notes: some } })],
  });
  const document = comparison([noted('native', notes), noted('mine', notes.slice(1, 2))]);
  expect(withWarnings({ ...document, warnings: [] }).warnings).toEqual([
    "native, w: 'logs/run-0001.stdout' holds (and 1 more such)",
    'native, w: 3 of 9 numbers',
    'mine, w: 3 of 9 numbers',
  ]);
});
