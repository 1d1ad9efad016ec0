/** What is said of a check of a compute limit. */
import { describe, expect, it } from 'vitest';
import { limitFinding, limitText } from '../../../lib/report/text/limit-text.js';

const limit = (label: 'throttled' | 'not throttled' | 'not checked', achievedPercent: number | null) => ({
  ...{ system: 'a\u001b[31m', limitPercent: 30, label, achievedPercent, detail: '900 kernels of 1 ms' },
  ...{ sharesPercent: [], binMs: 100 },
});

describe('the check of a compute limit', () => {
  it.each([
    ['throttled', 33, 'throttled'],
    ['throttled', 33.1, 'throttled, but above the limit'],
    ['not throttled', 99, 'not throttled'],
    ['not checked', null, 'not checked'],
  ] as const)('says of %s at %s %%: %s', (label, achieved, finding) =>
    expect(limitFinding(limit(label, achieved))).toBe(finding),
  );

  it('is one plain line', () => {
    expect(limitText(limit('throttled', 50))).toBe(
      'a, 30 %: throttled, but above the limit (busy 50.00 % of the time); 900 kernels of 1 ms',
    );
    expect(limitText(limit('not checked', null))).toBe('a, 30 %: not checked; 900 kernels of 1 ms');
  });
});
