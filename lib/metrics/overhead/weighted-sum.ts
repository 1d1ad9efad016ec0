/** The sum of what interception adds to several functions, weighted by their number of calls, with its interval. */

interface WeightedFunction {
  weight: number;
  overheadNs: number;
  ci95: readonly [number, number] | null;
}

/**
 * The sum in ns. Functions are measured in turn, so within a process their errors are independent and add up as
 * squares. No interval if a function has none.
 */
export function weightedSum(functions: readonly WeightedFunction[]): { value: number; ci95: [number, number] | null } {
  const value = functions.reduce((sum, { weight, overheadNs }) => sum + weight * overheadNs, 0);
  if (functions.some(({ ci95 }) => ci95 === null)) return { value, ci95: null };
  const half = (end: 0 | 1) =>
    Math.hypot(...functions.map(({ weight, overheadNs, ci95 }) => weight * ((ci95?.[end] ?? 0) - overheadNs)));
  return { value, ci95: [value - half(0), value + half(1)] };
}
