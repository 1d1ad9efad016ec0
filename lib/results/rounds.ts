/** Which rounds of two systems ran beside each other (only these may be compared), and how many of all. */
import type { RunDocument } from './document.js';

/** A document that was merged says of every round where it is from; in another, the n-th ran beside the n-th. */
export const placeOf = ({ session }: RunDocument, index: number): string =>
  session ? `${session.document}.${session.round}` : `0.${index}`;

/** Of every system its rounds in common places, with a gap where it has none there. */
export function alignedRounds(systems: readonly (readonly RunDocument[])[]): (RunDocument | undefined)[][] {
  const bySystem = systems.map((rounds) => new Map(rounds.map((round, index) => [placeOf(round, index), round])));
  const places = [...new Set(bySystem.flatMap((rounds) => [...rounds.keys()]))];
  return bySystem.map((rounds) => places.map((place) => rounds.get(place)));
}

/** The pairs, in order. */
export function besides(
  system: readonly RunDocument[],
  baseline: readonly RunDocument[],
): [RunDocument, RunDocument][] {
  const [own = [], others = []] = alignedRounds([system, baseline]);
  return own.flatMap((round, index): [RunDocument, RunDocument][] => {
    const other = others[index];
    return round && other ? [[round, other]] : [];
  });
}

/** `3 of 4 rounds`; null where it is all of them. */
export const partly = (rounds: number, of: number): string | null => (rounds < of ? `${rounds} of ${of} rounds` : null);
