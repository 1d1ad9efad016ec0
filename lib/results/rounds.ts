/** Which rounds of two systems ran beside each other (only these may be compared), and how many there are. */
import { areOnOneCard } from './cards.js';
import type { RunDocument } from './document.js';

/**
 * A merged document records the origin of every round; in other documents, rounds with the same index ran beside each
 * other.
 */
export const placeOf = ({ session }: RunDocument, index: number): string =>
  session ? `${session.document}.${session.round}` : `0.${index}`;

/** The rounds of every system, aligned by common origin, with gaps where a system has none. */
export function alignedRounds(systems: readonly (readonly RunDocument[])[]): (RunDocument | undefined)[][] {
  const bySystem = systems.map((rounds) => new Map(rounds.map((round, index) => [placeOf(round, index), round])));
  const places = [...new Set(bySystem.flatMap((rounds) => [...rounds.keys()]))];
  return bySystem.map((rounds) => places.map((place) => rounds.get(place)));
}

/** Pairs of rounds that ran beside each other on one card, in order. */
export function besides(
  system: readonly RunDocument[],
  baseline: readonly RunDocument[],
): [RunDocument, RunDocument][] {
  const [own = [], others = []] = alignedRounds([system, baseline]);
  return own.flatMap((round, index): [RunDocument, RunDocument][] => {
    const other = others[index];
    return round && other && areOnOneCard(round, other) ? [[round, other]] : [];
  });
}

/** `3 of 4 rounds`; null if it is all of them. */
export const partly = (rounds: number, of: number): string | null => (rounds < of ? `${rounds} of ${of} rounds` : null);
