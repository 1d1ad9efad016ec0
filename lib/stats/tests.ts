/** A rank test of two samples, shown in addition to the interval, which decides. */
import { cumulativeStdNormalProbability } from 'simple-statistics';

/** With more values the normal approximation is close, and counting all orders is too expensive. */
const EXACT_UP_TO = 40;

/**
 * Mann–Whitney U, two-sided: exact without ties up to 40 values in total, else normal with tie and continuity
 * correction.
 */
export function mannWhitney(a: readonly number[], b: readonly number[]): number | null {
  if (a.length === 0 || b.length === 0) return null;
  const { u, tieTerm } = statistic(a, b);
  const n = a.length + b.length;
  if (tieTerm === 0 && n <= EXACT_UP_TO) return exactP(Math.min(u, a.length * b.length - u), a.length, b.length);
  const variance = ((a.length * b.length) / 12) * (n + 1 - tieTerm / (n * (n - 1)));
  if (variance === 0) return null;
  const z = Math.max(0, Math.abs(u - (a.length * b.length) / 2) - 0.5) / Math.sqrt(variance);
  return Math.min(1, 2 * (1 - cumulativeStdNormalProbability(z)));
}

function statistic(a: readonly number[], b: readonly number[]): { u: number; tieTerm: number } {
  let u = 0;
  for (const x of a) for (const y of b) u += x > y ? 1 : x === y ? 0.5 : 0;
  const counts = new Map<number, number>();
  for (const x of [...a, ...b]) counts.set(x, (counts.get(x) ?? 0) + 1);
  const tieTerm = [...counts.values()].reduce((sum, t) => sum + (t ** 3 - t), 0);
  return { u, tieTerm };
}

/** 2·P(U ≤ u): the number of orders with each U by the recursion f(m, n, u) = f(m−1, n, u−n) + f(m, n−1, u). */
function exactP(u: number, m: number, n: number): number {
  const size = m * n + 1;
  let rows: Float64Array[] = Array.from({ length: n + 1 }, () => {
    const row = new Float64Array(size);
    row[0] = 1;
    return row;
  });
  for (let i = 1; i <= m; i++) {
    const next: Float64Array[] = [];
    for (let j = 0; j <= n; j++) {
      const row = new Float64Array(size);
      for (let k = 0; k < size; k++) {
        const fromAbove = k >= j ? ((rows[j] as Float64Array)[k - j] as number) : 0;
        row[k] = fromAbove + (j > 0 ? ((next[j - 1] as Float64Array)[k] as number) : 0);
      }
      next.push(row);
    }
    rows = next;
  }
  const counts = rows[n] as Float64Array;
  const total = counts.reduce((sum, c) => sum + c, 0);
  return Math.min(1, (2 * counts.slice(0, Math.floor(u) + 1).reduce((sum, c) => sum + c, 0)) / total);
}
