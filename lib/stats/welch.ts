/**
 * The difference of two means of independent samples with unequal variances: B. L. Welch (1947), with the degrees of
 * freedom of F. E. Satterthwaite (1946).
 */
import { mean, sampleVariance } from 'simple-statistics';
import type { TEstimate } from './effect.js';

/** a − b; null with fewer than two values per arm. */
export function welchEstimate(a: readonly number[], b: readonly number[]): TEstimate | null {
  if (a.length < 2 || b.length < 2) return null;
  const [va, vb] = [sampleVariance([...a]) / a.length, sampleVariance([...b]) / b.length];
  const satterthwaite = (va + vb) ** 2 / (va ** 2 / (a.length - 1) + vb ** 2 / (b.length - 1));
  return {
    centre: mean([...a]) - mean([...b]),
    standardError: Math.sqrt(va + vb),
    // Variances too small to be squared, or zero: the interval has no width in either case.
    df: Number.isFinite(satterthwaite) && satterthwaite > 0 ? satterthwaite : a.length + b.length - 2,
  };
}
