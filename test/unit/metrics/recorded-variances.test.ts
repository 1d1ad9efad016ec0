import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { sampleStandardDeviation } from 'simple-statistics';
import { expect, it } from 'vitest';
import type { ComparisonDocument } from '../../../lib/results/document.js';
import { recordedVariances } from '../../../lib/metrics/recorded-variances.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));

it('is what npm run variances writes from the recorded comparisons', () => {
  expect(() =>
    execFileSync(process.execPath, ['scripts/variances.js', '--check'], { cwd: root, stdio: 'pipe' }),
  ).not.toThrow();
});

it('has the spread of a metric that was recorded in one comparison', () => {
  const path = 'bench/results/h200/2026-11-23-4646957/llm-009.json';
  const { systems } = JSON.parse(readFileSync(`${root}/${path}`, 'utf8')) as ComparisonDocument;
  const logs = (systems[0] ?? []).map((round) =>
    Math.log(round.metrics.find(({ id }) => id === 'LLM-009')?.value ?? 0),
  );
  const recorded = recordedVariances['LLM-009'];
  expect(recorded).toMatchObject({ documents: 1, rounds: 5, scale: 'log' });
  // The median of a sample's standard deviation with four degrees of freedom is 0.916 of the true one.
  expect(recorded?.sd).toBeCloseTo(sampleStandardDeviation(logs) / 0.916, 3);
});

it('states the spread of a metric with values of zero in its unit', () => {
  expect(recordedVariances['OH-005']?.scale).toBe('unit');
});
