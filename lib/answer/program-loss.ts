/** What programs of the user lose under each system, in a sentence: the first figure of each card's line. */
import { isOfProgram } from '../metrics/core/stored-definitions.js';
import type { Card, Figure } from '../results/answer-schema.js';
import { named } from './candidates.js';
import { ends } from './figures.js';

/**
 * The first figure of a card's line about programs; null for a document without programs, and for programs that were
 * compared with nothing.
 */
export function programFigure({ lines }: Card): Figure | null {
  const [first] = lines.find(({ question }) => question === 'program')?.figures ?? [];
  return first && first.word !== 'measured' && isOfProgram(first.metric ?? '') ? first : null;
}

function lossText(one: Figure): string {
  if (one.word === 'same') return 'no loss that counts';
  if (one.shown === null) return `${one.word}`;
  return one.word === 'inconclusive' ? `${ends(one)}, not decided,` : ends(one);
}

/**
 * Says what programs lose: `llm/tokens-per-second -4.100 % (-4.400 … -3.800) under hami-core and no loss that counts
 * under mps`.
 */
export function programLoss(cards: readonly Card[]): string | null {
  const own = cards.flatMap((card) => {
    const one = programFigure(card);
    return one ? [{ system: card.system, one }] : [];
  });
  const [first] = own;
  return first ? `${first.one.what} ${named(own.map(({ system, one }) => `${lossText(one)} under ${system}`))}` : null;
}
