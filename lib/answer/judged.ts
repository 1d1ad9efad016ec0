/** What was concluded of an effect, from the fields of documents old and new. */
import type { ComparisonDocument, Effect } from '../results/document.js';
import { isComparison, type ResultDocument } from '../results/kinds.js';

export interface Judged {
  /** A difference is established, at a false discovery rate of 5 %. */
  established: boolean;
  /**
   * `within` the smallest difference that counts, wholly `beyond` it, or `straddles` it; null if it is not established
   * on which side it lies.
   */
  relevance: 'within' | 'beyond' | 'straddles' | null;
}

/**
 * Earlier documents have no more than a verdict, which went by the whole interval beyond the smallest difference that
 * counts.
 */
export function judgedOf(effect: Effect): Judged {
  const { established, relevance } = effect as Effect & Partial<Judged>;
  const hasVerdict = effect.verdict === 'slower' || effect.verdict === 'faster';
  return {
    established: established ?? hasVerdict,
    relevance: relevance ?? (effect.verdict === 'same' ? 'within' : hasVerdict ? 'beyond' : null),
  };
}

/** Established, and not too small to count. */
export const counts = (effect: Effect): boolean =>
  (effect.verdict === 'slower' || effect.verdict === 'faster') && judgedOf(effect).established;

/** Effects between systems other than the baseline; null for documents without these tests. */
export const pairsOf = (document: ResultDocument): Effect[] | null =>
  isComparison(document) ? ((document as ComparisonDocument & { pairs?: Effect[] }).pairs ?? null) : null;
