/** One round of one system. */
import type { RunDocument } from '../results/document.js';

/** `not measured`: its document contains reasons instead of numbers. */
export type RoundOrigin = 'measured' | 'reused' | 'not measured';

export interface FinishedRound {
  document: RunDocument;
  origin: RoundOrigin;
  /** The output of its workers and of the layer in them. */
  log: string;
}

export interface Round extends FinishedRound {
  /** The reason of the first proof that failed in it. */
  failedProof?: string | undefined;
}
