import { describe, expect, it } from 'vitest';
import { tCritical, tUpperTail } from '../../../lib/stats/student-t.js';

describe("Student's t", () => {
  // Standard two-sided tables.
  it.each([
    [0.05, 1, 12.7062],
    [0.05, 2, 4.302653],
    [0.05, 4, 2.776445],
    [0.05, 9, 2.262157],
    [0.05, 30, 2.042272],
    [0.01, 4, 4.604095],
    [0.001, 4, 8.610302],
    [0.001, 1, 636.6192],
    [0.1, 120, 1.657651],
  ])('has the critical value of alpha %d, %i degrees of freedom: %d', (alpha, df, expected) =>
    expect(tCritical(alpha, df)).toBeCloseTo(expected, df === 1 ? 3 : 5),
  );

  it.each([1, 2, 5, 30, 200])('is symmetric and one half at zero with %i degrees of freedom', (df) => {
    expect(tUpperTail(0, df)).toBeCloseTo(0.5, 12);
    expect(tUpperTail(-1.7, df) + tUpperTail(1.7, df)).toBeCloseTo(1, 12);
  });

  it('is accurate in the far tail', () => {
    // df = 1 is Cauchy: P(T > t) = atan(1/t)/π.
    expect(tUpperTail(1e6, 1) / (Math.atan(1e-6) / Math.PI)).toBeCloseTo(1, 9);
    // df = 2: P(T > t) = (1 − t/√(2 + t²))/2 ≈ 1/(2t²).
    expect(tUpperTail(1e4, 2) * 2 * 1e8).toBeCloseTo(1, 6);
  });
});
