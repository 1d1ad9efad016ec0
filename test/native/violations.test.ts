/** From a metric that shows a limit not to hold to the exit code of a comparison. */
import { describe, expect, it } from 'vitest';
import { exitCodeOfResults } from '../../lib/cli/options/result-codes.js';
import type { MetricDefinition } from '../../lib/metrics/core/metric.js';
import { makePlan } from '../../lib/run/plan/plan.js';
import { environmentSystem } from '../../lib/systems/process/environment.js';
import { metric } from '../unit/run/fixtures.js';
import { compared, environment } from './compared.js';

const DETAIL = '12 GiB were held under a limit of 10 GiB';

/** A metric that checks from outside and finds a violation in one system. */
const limit: MetricDefinition = {
  ...metric('IS-001'),
  where: 'fresh-processes',
  measure: ({ system }) =>
    Promise.resolve({
      value: 1,
      ci95: null,
      headline: null,
      details: {},
      checks: [],
      ...(system.name === 'leaky' && { violations: [DETAIL] }),
    }),
};

describe('a limit that a metric showed not to hold', () => {
  it('is in its result, appears once in the comparison for any number of rounds, and decides the exit code', async () => {
    const plain = environmentSystem(environment);
    const plan = makePlan([limit], 'quick', 1);
    const { comparison, documents } = await compared([plain, { ...plain, name: 'leaky' }], 2, { plan });
    const found = documents.map((rounds) => rounds.map(({ metrics }) => metrics[0]?.violations));
    expect(found).toEqual([
      [undefined, undefined],
      [[{ detail: DETAIL }], [{ detail: DETAIL }]],
    ]);
    expect(comparison.violations).toEqual([{ system: 'leaky', metric: 'IS-001', detail: DETAIL }]);
    expect(exitCodeOfResults(comparison)).toBe(4);
    expect(exitCodeOfResults({ ...comparison, violations: [] })).toBe(0);
  });
});
