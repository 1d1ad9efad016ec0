/** One round of one system. */
import type { RunDocument } from '../results/document.js';

/** Where a round's numbers are from: `recorded`, another session. A round that was `not measured` has reasons instead of numbers. */
export type RoundOrigin = 'measured' | 'reused' | 'recorded' | 'not measured';

export interface FinishedRound {
  document: RunDocument;
  origin: RoundOrigin;
  /** The output of the round's workers and of the layer in them. */
  log: string;
}

export interface Round extends FinishedRound {
  /** The reason of the first proof that failed in the round. */
  failedProof?: string | undefined;
}
