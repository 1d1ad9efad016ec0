import { describe, expect, it } from 'vitest';
import { healthCheckNames } from '../../lib/metrics/health-log.js';
import { findingText, reworded } from '../../lib/results/health-text.js';
import { summariseAfter } from '../../lib/run/health-summary.js';

describe('a finding of health', () => {
  it.each([...healthCheckNames, ...summariseAfter([], undefined).map(({ name }) => name)])(
    'states what was seen if this check fails: %s',
    (name) => expect(findingText(name)).not.toBe(name),
  );

  it('has the name of a neutral or unknown check', () =>
    expect(['GPU temperature', 'constructor'].map(findingText)).toEqual(['GPU temperature', 'constructor']));
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
