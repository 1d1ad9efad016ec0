import { describe, expect, it } from 'vitest';
import { healthCheckNames } from '../../../lib/metrics/core/health-log.js';
import { findingText, reworded, worryText } from '../../../lib/results/text/health-text.js';
import { summariseAfter } from '../../../lib/run/health-summary.js';

describe('a finding of health', () => {
  it.each([...healthCheckNames, ...summariseAfter([], undefined).map(({ name }) => name)])(
    'states what was seen if this check fails: %s',
    (name) => expect(findingText(name)).not.toBe(name),
  );

  it('has the name of a neutral or unknown check', () =>
    expect(['GPU temperature', 'constructor'].map(findingText)).toEqual(['GPU temperature', 'constructor']));
});

describe('whether to worry', () => {
  it('is no question without a failed check', () => expect(worryText([], false)).toBeNull());

  it('depends on what failed', () => {
    const samples = 'Do not worry about outliers and variation: medians and intervals allow for them.';
    expect(worryText(['outliers at most 5 %'], false)).toBe(samples);
    expect(worryText(['host CPU at rest', 'no foreign GPU process'], false)).toMatch(
      /^Worry about this: host CPU is busy; another process used the GPU\. .*\(--strict refuses to measure then\)\.$/,
    );
    const both = worryText(['host CPU at rest', 'outliers at most 5 %', 'outliers at most 5 %'], false);
    expect(both).toMatch(/^Worry about this: host CPU is busy\. /);
    expect(both?.endsWith(samples)).toBe(true);
  });

  it('is not asked of a simulated GPU', () =>
    expect(worryText(['host CPU at rest'], true)).toMatch(/^Do not worry .* simulated/));
});

describe('a warning of schema version 1', () => {
  it.each([
    [
      'native: failed in 5 of 5 rounds: outliers at most 5 % (OH-002, OH-003)',
      'native: more than 5 % outliers in 5 of 5 rounds (OH-002, OH-003)',
    ],
    [
      'a: b: failed in 1 of 2 rounds: no slowdown while sampled',
      'a: b: clocks held back while sampled in 1 of 2 rounds',
    ],
    ['no slowdown: OH-002 (power cap)', 'clocks held back: OH-002 (power cap)'],
  ])('is reworded: %s', (old, now) => expect(reworded(old)).toBe(now));

  it.each(['native: failed in 5 of 5 rounds: unheard of (OH-002)', 'constructor: no', 'disk is full', ''])(
    'is unchanged if it is not about health: %s',
    (text) => expect(reworded(text)).toBe(text),
  );
});
