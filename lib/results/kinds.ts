/** The two kinds of result document, and what holds for both. */
import type { ComparisonDocument, RunDocument } from './document.js';

export type ResultDocument = RunDocument | ComparisonDocument;

export const isComparison = (document: ResultDocument): document is ComparisonDocument =>
  document.kind === 'comparison';

/** Every round of every system. */
export const roundsOf = (document: ResultDocument): RunDocument[] =>
  isComparison(document) ? document.systems.flat() : [document];

/** Whether any of it is of a simulated GPU. */
export const isSimulated = (document: ResultDocument): boolean =>
  roundsOf(document).some(({ gpu }) => gpu.some(({ simulated }) => simulated));
