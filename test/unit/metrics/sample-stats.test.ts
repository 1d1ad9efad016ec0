/** What results say about their samples. */
import { describe, expect, it } from 'vitest';
import type { Measured } from '../../../lib/metrics/core/metric.js';
import { figuresOf } from '../../../lib/metrics/core/sample-stats.js';
import { gaussian, related, upTo } from '../stats/fixtures.js';

const measured = (samples: readonly number[], change: Partial<Measured> = {}): Measured => ({
  ...{ value: 1, ci95: null, headline: Float64Array.from(samples), details: {}, checks: [], ...change },
});
const sampleStats = (of: Measured) => figuresOf(of).stats;
const noInterval = (of: Measured) => {
  const figures = figuresOf(of);
  return 'noInterval' in figures ? { noInterval: figures.noInterval } : {};
};
const dependent = related(gaussian(4), 100, 0.95);

describe('the effective number of samples', () => {
  it('is near their number if they are independent, and small if they depend on each other', () => {
    expect(sampleStats(measured(related(gaussian(4), 100, 0)))).toMatchObject({ count: 100 });
    expect(sampleStats(measured(related(gaussian(4), 100, 0)))?.effectiveSamples).toBeGreaterThan(40);
    expect(sampleStats(measured(dependent))?.effectiveSamples).toBeLessThan(10);
  });
  it('is that of blocks whose samples share an error', () =>
    expect(sampleStats(measured(upTo(100), { blocks: Float64Array.of(2, 1, 3) }))?.effectiveSamples).toBe(3));
  it('is absent for values of separate processes, and without samples', () => {
    expect(sampleStats(measured(dependent, { ciScope: 'between-processes' }))).not.toHaveProperty('effectiveSamples');
    expect(sampleStats(measured([], { headline: null }))).toBeNull();
  });
});

describe('the reason for a missing interval', () => {
  it('is given if the samples are too few or depend on each other', () => {
    expect(noInterval(measured([1, 2, 3]))).toEqual({ noInterval: '3 samples, and an interval needs 10' });
    expect(noInterval(measured(dependent)).noInterval).toMatch(/^100 samples that depend on each other count as \d, /);
  });
  it('is given if all are equal', () =>
    expect(noInterval(measured(Array<number>(50).fill(3)))).toEqual({
      noInterval: 'all samples are equal, and the step of their clock is not known',
    }));
  it.each<[string, Partial<Measured>]>([
    ['there is an interval', { ci95: [0, 2] }],
    ['there is no value', { value: null }],
    ['values are of separate processes', { ciScope: 'between-processes' }],
  ])('is absent if %s', (_, change) => expect(noInterval(measured([1, 2, 3], change))).toEqual({}));
});
