import type { ResultDocument } from '../results/kinds.js';

/** A saved document and where it is from. */
export interface Source {
  /** The file as the caller named it. */
  file: string;
  document: ResultDocument;
}
