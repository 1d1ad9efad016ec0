/** The order of the answer: what the purpose of a comparison (--for) asks first comes first. */
import type { Advice, Card, Question } from '../results/answer-schema.js';
import type { PurposeName } from '../results/text/purpose-names.js';
import { useFor } from './recommendations.js';

const questions: Readonly<Record<PurposeName, readonly Question[]>> = {
  serving: ['program', 'start', 'neighbours', 'calls', 'limits'],
  training: ['program', 'neighbours', 'limits', 'calls', 'start'],
  notebooks: ['start', 'neighbours', 'limits', 'program', 'calls'],
  'strict-tenants': ['limits', 'neighbours', 'program', 'start', 'calls'],
};

/** Orders the lines of a card by purpose. All cards have the same order, so that they can be compared line by line. */
export const orderedCard = (card: Card, purpose: PurposeName | null): Card =>
  purpose === null
    ? card
    : {
        ...card,
        lines: questions[purpose].flatMap((question) => card.lines.filter((line) => line.question === question)),
      };

/** Puts the use that the purpose stands for first. */
export function orderedAdvice(advice: readonly Advice[], purpose: PurposeName | null): Advice[] {
  const wanted = purpose && useFor(purpose)?.name;
  return [...advice.filter(({ use }) => use === wanted), ...advice.filter(({ use }) => use !== wanted)];
}
