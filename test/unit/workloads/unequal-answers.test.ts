import { describe, expect, it } from 'vitest';
import type { ComparisonDocument } from '../../../lib/results/document.js';
import { unequalAnswers } from '../../../lib/workloads/metrics/unequal-answers.js';
import { comparison } from '../report/fixtures.js';
import { result } from '../run/fixtures.js';

interface Load {
  succeeded: number;
  tokens?: number;
  ends: Record<string, number>;
}

/** One run a round of each system, after a warm-up that must not count. */
function measured(loads: Record<string, Load | null>): ComparisonDocument {
  const rowOf = ({ succeeded, tokens, ends }: Load) => ({
    ...{ succeeded, ...(tokens !== undefined && { tokens }) },
    ends: Object.entries(ends).map(([reason, count]) => ({ reason, count })),
  });
  const warmup = { warmup: true, load: rowOf({ succeeded: 100, tokens: 1, ends: { abort: 100 } }) };
  return comparison(
    Object.entries(loads).map(([name, load]) => ({
      name,
      metrics: () => [
        result('llm/ready', { details: { runs: [warmup, { warmup: false, ...(load && { load: rowOf(load) }) }] } }),
        result('llm/ttft'),
      ],
    })),
  );
}

const full: Load = { succeeded: 100, tokens: 12_800, ends: { length: 100 } };

describe('answers of several systems', () => {
  it('are the same work where ends and lengths agree, or nothing is known', () => {
    expect(unequalAnswers(measured({ native: full, slow: full }))).toEqual([]);
    expect(unequalAnswers(measured({ native: full }))).toEqual([]);
    expect(unequalAnswers(measured({ native: full, slow: null }))).toEqual([]);
    expect(unequalAnswers(measured({ native: full, slow: { ...full, tokens: 12_700 } }))).toEqual([]);
  });

  it('are not where they end for different reasons', () =>
    expect(unequalAnswers(measured({ native: full, slow: { ...full, ends: { length: 90, stop: 10 } } }))).toEqual([
      'llm: answers end for different reasons (native: 300 length; slow: 270 length, 30 stop), so the systems did not do the same work',
    ]));

  it('are not where their lengths differ', () =>
    expect(unequalAnswers(measured({ native: full, slow: { ...full, tokens: 6_400 } }))).toEqual([
      expect.stringMatching(
        /^llm: answers are not equally long \(tokens on average: native 128, slow 64\), so latency/,
      ),
    ]));

  it('have no length where the number of tokens is not known', () =>
    expect(unequalAnswers(measured({ native: full, slow: { succeeded: 100, ends: { length: 100 } } }))).toEqual([]));
});
