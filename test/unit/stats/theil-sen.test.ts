import { describe, expect, it } from 'vitest';
import { median } from '../../../lib/stats/median.js';
import { at, type Cell, theilSen, theilSenCi95 } from '../../../lib/stats/theil-sen.js';
import { gaussian, upTo } from './fixtures.js';

const PLACES = [0, 256, 1_024, 4_096, 16_384];
const lineThrough = (slope: number, intercept: number) => PLACES.map((x) => ({ x, y: intercept + slope * x }));

describe('the Theil–Sen line', () => {
  it.each([
    [5, 90_000],
    [0, 12],
    [-0.25, 7],
  ])('of points on a line is that line: %d, %d', (slope, intercept) => {
    const line = theilSen(lineThrough(slope, intercept));
    expect(line.slope).toBeCloseTo(slope, 9);
    expect(line.intercept).toBeCloseTo(intercept, 9);
    expect(at(line, 1_024)).toBeCloseTo(intercept + 1_024 * slope, 6);
  });

  it('ignores one outlier', () => {
    const points = lineThrough(5, 100).map((point, i) => (i === 2 ? { ...point, y: 1e9 } : point));
    const line = theilSen(points);
    expect(line.slope).toBeCloseTo(5, 9);
    expect(line.intercept).toBeCloseTo(100, 9);
  });

  it('has the median slope of all pairs, and the median residual', () => {
    // Slopes 1, 2 and 3; residuals at slope 2: 0, -1, 0.
    const line = theilSen([
      { x: 0, y: 0 },
      { x: 1, y: 1 },
      { x: 2, y: 4 },
    ]);
    expect(line).toEqual({ slope: 2, intercept: 0 });
  });

  it.each([
    ['one point', [{ x: 1, y: 1 }]],
    [
      'one place',
      [
        { x: 1, y: 1 },
        { x: 1, y: 2 },
      ],
    ],
  ])('refuses %s', (_, points) => expect(() => theilSen(points)).toThrow('Expected points at two places or more.'));
});

describe('its interval', () => {
  /** Like the points of OH-007: ten visits to each of three places. */
  const cells = (seed: number, count = 10): Cell[] => {
    const noise = gaussian(seed);
    return [256, 1_024, 4_096].map((x) => ({ x, values: upTo(count).map(() => 90_000 + 0.5 * x + 100 * noise()) }));
  };

  it('repeats for a seed, and is null if a cell has fewer than six values', () => {
    expect(theilSenCi95(cells(1, 20), 1_024, 3)).toEqual(theilSenCi95(cells(1, 20), 1_024, 3));
    expect(theilSenCi95(cells(1, 5), 1_024, 3)).toBeNull();
    expect(median(upTo(5).map(Number)).ci95).toBeNull();
  });

  it('covers the slope and the line in 91 to 99 % of seeded runs', () => {
    const runs = 300;
    const covered = { slope: 0, at: 0 };
    for (let seed = 0; seed < runs; seed++) {
      const intervals = theilSenCi95(cells(seed), 1_024, seed);
      if (!intervals) throw new Error('unreachable');
      const holds = ([low, high]: [number, number], truth: number) => low <= truth && truth <= high;
      if (holds(intervals.slope, 0.5)) covered.slope++;
      if (holds(intervals.at, 90_000 + 512)) covered.at++;
    }
    for (const count of Object.values(covered)) {
      expect(count / runs).toBeGreaterThanOrEqual(0.91);
      expect(count / runs).toBeLessThanOrEqual(0.99);
    }
  });
});
