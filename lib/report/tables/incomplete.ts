/** The sentence before a result that ended before its last round. */
import { isComparison, type ResultDocument } from '../../results/kinds.js';
import { plain } from '../../results/text/plain.js';

/** Says what is missing; null if all was measured. */
export function incompleteText(document: ResultDocument): string | null {
  if (document.completed) return null;
  const stopped = isComparison(document) ? document.stopped : undefined;
  return stopped === undefined
    ? 'Interrupted: this report contains only what was measured until then.'
    : plain(`${stopped.detail} This report contains only what was measured until then.`);
}
