/** The answer of a comparison for a purpose begins with what that purpose asks. */
import { describe, expect, it } from 'vitest';
import { answerOf } from '../../../lib/answer/answer.js';
import type { ComparisonDocument } from '../../../lib/results/document.js';
import { purposeNames } from '../../../lib/results/text/purpose-names.js';
import { ofMetrics } from '../joined-fixtures.js';
import { comparison, measured as result } from '../report/fixtures.js';

const measured = ofMetrics({ native: 1, a: 1.3, b: 1 });
const overLimit = {
  system: 'a',
  metric: 'IS-001',
  detail: 'cuMemAlloc_v2: 12 GiB granted under a limit of 10 GiB; NVML shows 12.4 GiB',
};
const of = (purpose: ComparisonDocument['plan']['purpose'], document = measured, violations = [overLimit]) => {
  const { purpose: _, ...plan } = document.plan;
  return answerOf({ ...document, plan: { ...plan, ...(purpose && { purpose }) }, violations });
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

  /** Two systems `a` and `b`, of which one lets faults through; both cost time until the first result. */
  const faulty = (isolated: number) =>
    comparison(
      ['native', 'a', 'b'].map((name, i) => ({
        name,
        metrics: (round: number) => [
          result('START-001', [200, 300, 400][i] ?? 0, round),
          { ...result('IS-010', 1, round), value: [1, 0, isolated][i] ?? 0 },
        ],
      })),
    );
  const fault = (system: string) => ({ system, metric: 'IS-010', detail: 'trap: reached the neighbour' });

  it('of a purpose begins with the system without its violations, and the costs of that one', () => {
    expect(of('serving', faulty(1), [fault('a'), overLimit]).decision).toMatch(
      /^For serving use b, not a, because a lets 1 fault .*\. For strict quotas do not use a\. Use b only where \+201/,
    );
  });

  it('of a purpose for which violations rule out all says so, and what each costs', () => {
    const { decision } = of('serving', faulty(0), [fault('a'), fault('b')]);
    expect(decision).toMatch(/^For serving use none of a and b, because a.*For strict quotas use none\./);
  });

  it('names a preference before quotas, unless they are the purpose', () => {
    expect(of('serving').decision).toMatch(/^For serving prefer b to a\. For strict quotas do not use a/);
    expect(of('strict-tenants').decision).toMatch(/^For strict quotas do not use a/);
    expect(of(undefined).decision).toMatch(/^For strict quotas do not use a/);
  });
});
