/** The two kinds of result document, and what applies to both. */
import type { ComparisonDocument, RunDocument } from './document.js';

export type ResultDocument = RunDocument | ComparisonDocument;

export const isComparison = (document: ResultDocument): document is ComparisonDocument =>
  document.kind === 'comparison';

/** All rounds of all systems. */
export const roundsOf = (document: ResultDocument): RunDocument[] =>
  isComparison(document) ? document.systems.flat() : [document];

/** Whether any part of it was measured on a simulated GPU. */
export const isSimulated = (document: ResultDocument): boolean =>
  roundsOf(document).some(({ gpu }) => gpu.some(({ simulated }) => simulated));
