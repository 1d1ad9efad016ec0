/** Text of effects, shared by all formats. */
import type { Effect } from '../document.js';
import { estimateText, type EstimateText, inOneLine } from './quantity.js';

export type Verdict = Effect['verdict'];

/** The verdicts in the order of presentation. */
export const VERDICTS: readonly Verdict[] = ['slower', 'faster', 'same', 'inconclusive', 'invalid'];

/** A ratio if `unit` is null, else a difference. */
interface Scaled {
  unit: string | null;
  ci95: [number, number] | null;
}

export interface Size extends Scaled {
  value: number;
}

/**
 * The ratio if there is one, else the difference; the same kind for all effects of a metric, whatever the number of
 * rounds.
 */
export function sizeOf({ ratio, ratioCi95, difference, differenceCi95 }: Effect, unit: string): Size | null {
  if (ratio !== null) return { value: ratio, unit: null, ci95: ratioCi95 };
  return difference === null ? null : { value: difference, unit, ci95: differenceCi95 };
}

export const sizeText = (size: Size): EstimateText => estimateText(size, size.unit, size.unit !== null);

/** `× 1.080 (1.072 … 1.099)` or `+12.00 ns (+10.00 … +14.00)`; `–` if there is no effect. */
export function effectText(effect: Effect | null, unit: string): string {
  const size = effect && sizeOf(effect, unit);
  return size ? inOneLine(sizeText(size)) : '–';
}

/** Whether it is shown, and not too small to count. */
export const isDifference = ({ verdict }: Effect): boolean => verdict === 'slower' || verdict === 'faster';

/** Whether a difference is shown. */
export const establishedText = ({ established, verdict }: Effect): string =>
  verdict === 'invalid' ? '–' : established ? 'shown' : 'not shown';

const RELEVANCE: Readonly<Record<NonNullable<Effect['relevance']>, string>> = {
  within: 'too small to count',
  beyond: 'large enough to count',
  straddles: 'perhaps too small to count',
};

/** How the size relates to the smallest change that counts. */
export const relevanceText = ({ relevance }: Effect): string => (relevance === null ? '–' : RELEVANCE[relevance]);
