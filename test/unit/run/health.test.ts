import { describe, expect, it } from 'vitest';
import type { Check, RunDocument } from '../../../lib/results/document.js';
import {
  disturbances,
  healthWarnings,
  refuseUnhealthy,
  strictly,
  summariseAfter,
} from '../../../lib/run/health-summary.js';
import { result, without } from './fixtures.js';

const check = (name: string, passed: Check['passed'], detail = 'seen'): Check => ({ name, passed, detail });
const hot = [check('GPU temperature', false, '83 °C'), check('no foreign GPU process', 'not checked')];

describe('before', () => {
  it('warns only of failed checks', () => expect(healthWarnings(hot)).toEqual(['GPU temperature: 83 °C']));

  it('refuses under --strict exactly what would be a warning', () => {
    expect(() => refuseUnhealthy(hot, true)).toThrow(
      /^The machine is not idle and healthy \(--strict\): GPU temperature: 83 °C\. /,
    );
    expect(() => refuseUnhealthy(hot, false)).not.toThrow();
    expect(() => refuseUnhealthy(hot.slice(1), true)).not.toThrow();
  });
});

describe('strictly', () => {
  const disturbed = result('OH-001', { checks: [check('no slowdown', false, 'power cap')], samples: [1] });

  it('removes a disturbed number, with the reason', () =>
    expect(strictly(disturbed)).toMatchObject({
      status: 'invalid',
      reason: 'health (--strict): clocks held back: power cap',
      value: null,
      ci95: null,
      stats: null,
    }));

  it('removes its samples', () => expect(strictly(disturbed)).not.toHaveProperty('samples'));

  it.each([
    ['all is well', [check('no slowdown', true)]],
    ['nobody could tell', [check('no slowdown', 'not checked')]],
    ['what failed is no matter of health', [check('checksum', false)]],
  ])('keeps a number if %s', (_, checks) => {
    const fine = result('OH-001', { checks });
    expect(strictly(fine)).toBe(fine);
  });

  it('keeps the reason of a result without a number', () => {
    const failed = without(disturbed, 'failed', 'lost');
    expect(strictly(failed)).toBe(failed);
  });
});

describe('after', () => {
  const results = [
    result('OH-001', { checks: [check('no slowdown', false, 'power cap'), check('SM clock steady', true)] }),
    result('OH-002', { checks: [check('no slowdown', true), check('SM clock steady', true)] }),
  ];
  const summary = new Map(summariseAfter(results, undefined).map((found) => [found.name, found]));

  it('names the metrics that were disturbed', () =>
    expect(summary.get('no slowdown')).toEqual(check('no slowdown', false, 'OH-001 (power cap)')));

  it('names the metrics that were not checked', () =>
    expect(summary.get('SM clock steady')?.detail).toBe('OH-001, OH-002'));

  it('reports no check that no metric made', () =>
    expect(summary.get('no foreign GPU process')?.passed).toBe('not checked'));

  it('includes a slowdown between the metrics', () => {
    const samples = { eventReasons: [1, null, 0x20] } as never;
    expect(summariseAfter([], samples).at(-1)).toEqual(
      check('no slowdown while sampled', false, 'thermal slowdown (software)'),
    );
  });

  it('has the number of rounds in a comparison', () => {
    const round = (metrics: RunDocument['metrics']) =>
      ({ system: { name: 'x' }, metrics, health: { before: [], after: summariseAfter(metrics, undefined) } }) as never;
    expect(disturbances([[round(results), round([]), round(results)]])).toEqual([
      'x: clocks held back in 2 of 3 rounds (OH-001)',
    ]);
  });
});
