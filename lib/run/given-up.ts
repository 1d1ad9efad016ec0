/** Systems whose further rounds are not measured, and when that ends a comparison. */
import type { ComparisonDocument } from '../results/document.js';
import type { CompareRequest } from './compare-request.js';

/** Adds why a round was not measured. The original reason comes first: documents are searched by their beginning. */
export const notMeasuredAfter = (round: number, failedProof: string): string =>
  `${failedProof.replace(/\.$/, '')}. Not measured after round ${round + 1}; --keep-going measures further rounds.`;

/**
 * Why the comparison stops: fewer than two systems are left. Undefined if it goes on; a single system was never to be
 * compared.
 */
export function nothingLeft(
  { systems, rounds, keepGoing }: CompareRequest,
  givenUp: ReadonlyMap<number, string>,
  done: number,
): ComparisonDocument['stopped'] {
  const lost = systems.filter(({ unavailable }, index) => unavailable !== null || givenUp.has(index));
  if (keepGoing || systems.length < 2 || systems.length - lost.length >= 2) return undefined;
  const names = lost.map(
    ({ name, unavailable }) => `${name} ${unavailable === null ? 'was not active' : 'is missing'}`,
  );
  return {
    because: givenUp.size > 0 ? 'not active' : 'missing',
    detail: `Stopped after round ${done} of ${rounds}: nothing is left to compare (${names.join(', ')}). --keep-going measures the others.`,
  };
}
