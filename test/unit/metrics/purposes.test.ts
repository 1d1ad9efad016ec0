import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { firstRun } from '../../../lib/metrics/first-run.js';
import { metricsFor, parsePurpose, purposes } from '../../../lib/metrics/purposes.js';
import type { MetricDefinition } from '../../../lib/metrics/core/metric.js';
import { findMetric, metrics } from '../../../lib/metrics/registry.js';
import { purposeNames } from '../../../lib/results/text/purpose-names.js';
import { duration } from '../../../lib/results/text/plain.js';
import { ROUNDS, secondsOf } from '../../../lib/run/plan/plan.js';
import { comparedMetrics, metricsOfRun } from '../../../lib/run/plan/selection.js';

const idsOf = (found: readonly { id: string }[]) => found.map(({ id }) => id);

describe.each(purposeNames)('the purpose %s', (name) => {
  it('names metrics that exist, and limits among them', () => {
    const ids = metricsFor(name);
    expect(ids.filter((id) => !findMetric(id))).toEqual([]);
    expect(purposes[name].limits.filter((id) => !ids.includes(id))).toEqual([]);
    expect(purposes[name].limits).toContain('IS-001');
  });
});

describe('parsePurpose', () => {
  it.each([
    ['servng', "Expected --for to be a purpose but received 'servng': did you mean serving?"],
    [
      'gaming',
      "Expected --for to be a purpose but received 'gaming': there are serving, training, notebooks, strict-tenants.",
    ],
    ['toString', /there are serving/],
  ])('refuses %s', (text, says) => expect(() => parsePurpose('--for', text)).toThrow(says));
});

describe('the set of a first run', () => {
  const set = metrics.filter(({ id }) => firstRun.includes(id));

  it('has metrics that exist, OH-002 among them, at most three of a subject', () => {
    expect(set).toHaveLength(firstRun.length);
    expect(firstRun).toContain('OH-002');
    for (const { category } of set)
      expect(set.filter((each) => each.category === category).length).toBeLessThanOrEqual(3);
  });

  it('is estimated to end within a minute, and raises no faults on the card', () => {
    expect(secondsOf(set, 'quick')).toBeLessThan(60);
    expect(set.filter(({ runsLast }) => runsLast)).toEqual([]);
  });
});

describe('what a command measures', () => {
  it('is everything in a comparison, and the set of a first run in a run, if nothing is named', () => {
    expect(comparedMetrics({ selectors: [], purpose: null }).metrics).toHaveLength(metrics.length);
    const run = metricsOfRun({ selectors: [], purpose: null });
    expect([...idsOf(run.metrics)].sort()).toEqual([...firstRun].sort());
    expect(run.isFirstRun).toBe(true);
  });

  it('is everything with the selector all', () => {
    const run = metricsOfRun({ selectors: ['all'], purpose: null });
    expect(run).toMatchObject({ isFirstRun: false });
    expect(run.metrics).toHaveLength(metrics.length);
  });

  it.each([comparedMetrics, metricsOfRun])('is a purpose and what selectors add to it', (select) => {
    const { metrics: found, purpose } = select({ selectors: ['OH-002'], purpose: 'serving' });
    expect(purpose).toBe('serving');
    expect([...idsOf(found)].sort()).toEqual([...metricsFor('serving'), 'OH-002'].sort());
  });
});

describe('the times in the help, the README and the first steps', () => {
  const two = (some: readonly MetricDefinition[]) => duration(secondsOf(some, 'standard') * 2 * ROUNDS.standard);
  const minutes = purposeNames.map((name) =>
    two(metrics.filter(({ id }) => metricsFor(name).includes(id))).replace(' min', ''),
  );
  const hours = Math.floor((secondsOf(metrics, 'standard') * 2 * ROUNDS.standard) / 3_600);
  // Rounded, so that they stay as they are when a metric is added.
  const all = [`over ${hours} h`, duration(secondsOf(metrics, 'quick'))];
  const set = metrics.filter(({ id }) => firstRun.includes(id));

  it.each(['lib/cli/program.ts', 'README.md', 'docs/getting-started.md'])('are those of the plan: %s', (file) => {
    const text = readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8').replace(/\s+/g, ' ');
    expect(text).toContain(minutes.join(', ').replace(/, (\d+)$/, file.startsWith('docs/') ? ' and $1' : ', $1'));
    for (const time of all) expect(text).toContain(time);
  });

  it('name how many metrics a first run has, and its seconds', () => {
    const read = (file: string) => readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');
    expect(read('README.md')).toContain(`a first set of ${set.length} metrics`);
    expect(read('docs/getting-started.md')).toContain(`the set of a first run: ${set.length} metrics`);
    expect(read('lib/cli/program.ts')).toContain(`about ${duration(secondsOf(set, 'quick'))}; all:`);
  });
});
