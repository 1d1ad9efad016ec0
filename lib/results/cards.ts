/** On which cards the rounds of two systems ran: only those on one card are compared, because cards of one model differ. */
import type { RunDocument, SeveralCards } from './document.js';

/** Whether a GPU's name is that of a MIG instance. */
export const isInstance = (name: string): boolean => /^MIG-/i.test(name);

const cardOf = ({ gpu }: RunDocument): string | undefined => gpu[0]?.uuid;

/** An instance is compared with a whole card and with other instances on purpose. */
export function areOnOneCard(one: RunDocument, other: RunDocument): boolean {
  const cards = [cardOf(one), cardOf(other)].filter((card) => card !== undefined);
  return cards.length < 2 || cards.some(isInstance) || cards[0] === cards[1];
}

/** The card of each pair of rounds. */
export const cardsOfPairs = (rounds: readonly RunDocument[]): string[] => rounds.map((round) => cardOf(round) ?? '');

type Arms = readonly (RunDocument | undefined)[];

/** Every system against each one before it, where their rounds ran on several cards; rounds are numbered from 1. */
export function severalCards(systems: readonly Arms[]): SeveralCards[] {
  return systems.flatMap((system, index) =>
    systems.slice(0, index).flatMap((baseline) => severalOf(system, baseline) ?? []),
  );
}

function severalOf(system: Arms, baseline: Arms): SeveralCards | null {
  const paired = new Map<string, number[]>();
  const leftOut: SeveralCards['leftOut'] = [];
  for (const [index, own] of system.entries()) {
    const other = baseline[index];
    if (!own || !other || !isMeasured(own) || !isMeasured(other)) continue;
    const [card = '', against = ''] = [cardOf(own), cardOf(other)];
    const round = index + 1;
    if (areOnOneCard(own, other)) paired.set(card, [...(paired.get(card) ?? []), round]);
    else leftOut.push({ round, system: card, baseline: against });
  }
  if (leftOut.length === 0 && [...paired.keys()].filter((card) => !isInstance(card)).length < 2) return null;
  return {
    system: nameOf(system),
    baseline: nameOf(baseline),
    paired: [...paired].map(([uuid, rounds]) => ({ uuid, rounds })),
    leftOut,
  };
}

/** A round that failed as a whole names the card that it should have been on. */
const isMeasured = ({ provenance }: RunDocument): boolean => provenance.length > 0;

const nameOf = (arms: Arms): string => arms.find((round) => round !== undefined)?.system.name ?? '';

/** Which cards, and which rounds are left out. */
export function severalCardsText({ system, baseline, paired, leftOut }: SeveralCards): string {
  const on = paired.map(({ uuid, rounds }) => `${uuid} (${roundsText(rounds)})`);
  const cards = on.length === 0 ? 'no card' : `${on.length} ${on.length === 1 ? 'card' : 'cards'}: ${on.join(', ')}`;
  const without = leftOut.map(
    ({ round, ...each }) =>
      `round ${round} is left out: ${system} ran on ${each.system}, ${baseline} on ${each.baseline}`,
  );
  return [`${system} is compared with ${baseline} within ${cards}`, ...without].join('; ');
}

const roundsText = (rounds: readonly number[]): string =>
  `${rounds.length === 1 ? 'round' : 'rounds'} ${rounds.join(', ')}`;
