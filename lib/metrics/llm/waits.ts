/**
 * How long a request waits that comes at a random moment. Percentiles of times between tokens count a pause once, however
 * long it lasts; a request meets it in proportion to its length.
 */
import type { Span } from '../../workers/activity.js';

interface Gap {
  /** The time until the next token, at the end and at the begin of the part of the gap that counts. */
  leastNs: number;
  mostNs: number;
}

/** The part of each gap between two tokens that lies inside. The time after the last token has no known end. */
function gapsIn(visible: readonly number[], { fromNs, toNs }: Span): Gap[] {
  return visible.slice(1).flatMap((next, i) => {
    const begin = Math.max(visible[i] as number, fromNs);
    const end = Math.min(next, toNs);
    return end > begin ? [{ leastNs: next - end, mostNs: next - begin }] : [];
  });
}

/** Share of the moments at which the wait is at most `ns`. */
function shareWithin(gaps: readonly Gap[], ns: number): number {
  let [within, all] = [0, 0];
  for (const { leastNs, mostNs } of gaps) {
    all += mostNs - leastNs;
    within += Math.min(Math.max(ns - leastNs, 0), mostNs - leastNs);
  }
  return within / all;
}

/** Halvings of the longest wait: to a millionth of it. */
const HALVINGS = 20;

function quantile(gaps: readonly Gap[], share: number): number {
  let [low, high] = [0, gaps.reduce((most, { mostNs }) => Math.max(most, mostNs), 0)];
  for (let i = 0; i < HALVINGS; i++) {
    const middle = (low + high) / 2;
    if (shareWithin(gaps, middle) < share) low = middle;
    else high = middle;
  }
  return high;
}

/** Percentiles in ns over moments of all tenants, each of whose tokens are sorted by time; null without two tokens. */
export function waitsIn(tenants: readonly (readonly number[])[], span: Span): { p50: number; p99: number } | null {
  const gaps = tenants.flatMap((visible) => gapsIn(visible, span));
  return gaps.length === 0 ? null : { p50: quantile(gaps, 0.5), p99: quantile(gaps, 0.99) };
}
