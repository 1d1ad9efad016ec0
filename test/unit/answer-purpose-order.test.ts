/** The answer of a comparison for a purpose begins with what that purpose asks. */
import { describe, expect, it } from 'vitest';
import { answerOf } from '../../lib/answer/answer.js';
import type { ComparisonDocument } from '../../lib/results/document.js';
import { purposeNames } from '../../lib/results/purpose-names.js';
import { ofMetrics } from './joined-fixtures.js';

const measured = ofMetrics({ native: 1, a: 1.3, b: 1 });
const of = (purpose: ComparisonDocument['plan']['purpose']) => {
  const { purpose: _, ...plan } = measured.plan;
  return answerOf({
    ...measured,
    plan: { ...plan, ...(purpose && { purpose }) },
    violations: [
      {
        system: 'a',
        metric: 'IS-001',
        detail: 'cuMemAlloc_v2: 12 GiB granted under a limit of 10 GiB; NVML shows 12.4 GiB',
      },
    ],
  });
};
const questionsOf = (purpose: ComparisonDocument['plan']['purpose']) =>
  of(purpose).cards.map(({ lines }) => lines.map(({ question }) => question));

describe('the order of the answer', () => {
  it.each([
    [undefined, 'start', 'Inference'],
    ['serving', 'program', 'Inference'],
    ['training', 'program', 'Training'],
    ['notebooks', 'start', 'Notebooks'],
    ['strict-tenants', 'limits', 'Strict quotas'],
  ] as const)('for %s begins with %s and %s', (purpose, question, use) => {
    const [first, ...others] = questionsOf(purpose);
    expect(first?.[0]).toBe(question);
    for (const other of others) expect(other).toEqual(first);
    expect(of(purpose).recommendations[0]?.use).toBe(use);
  });

  it('leaves out nothing', () => {
    const all = new Set(questionsOf(undefined)[0]);
    for (const purpose of purposeNames) {
      expect(new Set(questionsOf(purpose)[0])).toEqual(all);
      expect(of(purpose).recommendations).toHaveLength(of(undefined).recommendations.length);
    }
  });

  it('names a preference before quotas, unless they are the purpose', () => {
    expect(of('serving').decision).toMatch(/^For serving prefer b to a\. For strict quotas do not use a/);
    expect(of('strict-tenants').decision).toMatch(/^For strict quotas do not use a/);
    expect(of(undefined).decision).toMatch(/^For strict quotas do not use a/);
  });
});
