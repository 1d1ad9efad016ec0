/** A rank test of two samples, shown in addition to the interval, which decides. */
import { normalUpperTail } from '../normal.js';
import { ranksOf } from '../ranks.js';

/** With more values the normal approximation is close, and counting all orders is too expensive. */
const EXACT_UP_TO = 40;

/**
 * Mann–Whitney U, two-sided: up to 40 values in total from all ways to choose the first arm's values, which holds with
 * ties too; else the normal approximation with tie and continuity correction. Null without values, or if all are equal.
 */
export function mannWhitney(a: readonly number[], b: readonly number[]): number | null {
  const all = [...a, ...b];
  if (a.length === 0 || b.length === 0 || new Set(all).size === 1) return null;
  const ranks = ranksOf(all);
  const distance = Math.abs(sum(ranks.subarray(0, a.length)) - (a.length * (all.length + 1)) / 2);
  return all.length <= EXACT_UP_TO
    ? exactP(ranks, a.length, distance)
    : approximateP(ranks, [a.length, b.length], distance);
}

const sum = (values: Float64Array): number => values.reduce((total, value) => total + value, 0);

/** `distance`: of the first arm's sum of ranks from its expected value. */
function approximateP(ranks: Float64Array, [m, n]: [number, number], distance: number): number {
  const count = m + n;
  const squares = sum(ranks.map((rank) => (rank - (count + 1) / 2) ** 2));
  const variance = (m * n * squares) / (count * (count - 1));
  return Math.min(1, 2 * normalUpperTail(Math.max(0, distance - 0.5) / Math.sqrt(variance)));
}

/** Share of the choices of `chosen` ranks whose sum lies at least as far from its expected value. */
function exactP(ranks: Float64Array, chosen: number, distance: number): number {
  // Ranks of ties are halves.
  const doubled = Array.from(ranks, (rank) => Math.round(2 * rank));
  const size = doubled.reduce((total, rank) => total + rank, 1);
  const ways = Array.from({ length: chosen + 1 }, () => new Float64Array(size));
  (ways[0] as Float64Array)[0] = 1;
  for (const rank of doubled)
    for (let taken = chosen; taken > 0; taken--) {
      const [from, to] = [ways[taken - 1] as Float64Array, ways[taken] as Float64Array];
      for (let at = size - 1; at >= rank; at--) to[at] = (to[at] as number) + (from[at - rank] as number);
    }
  const counts = ways[chosen] as Float64Array;
  const expected = chosen * (ranks.length + 1);
  const asFar = counts.filter((_, at) => Math.abs(at - expected) >= Math.round(2 * distance));
  return sum(asFar) / sum(counts);
}
