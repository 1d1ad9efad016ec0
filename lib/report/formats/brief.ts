/** The answer alone, for a chat or a ticket. */
import { answerOf } from '../../answer/answer.js';
import { isSimulated, type ResultDocument, roundsOf } from '../../results/kinds.js';
import { plain } from '../../results/text/plain.js';
import { cardLines, unknownLines, violationCauses } from '../text/answer-lines.js';
import { incompleteText } from '../tables/incomplete.js';
import { titleOfSection } from '../sections.js';
import { WATERMARK } from './terminal.js';

const listed = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ['', `${title}:`, ...lines.map((line) => (line.startsWith('  ') ? line : `- ${line}`))];

export function briefReport(document: ResultDocument): string {
  const answer = answerOf(document);
  const gpus = new Set(roundsOf(document).flatMap(({ gpu }) => gpu.map(({ name }) => plain(name))));
  return [
    ...(isSimulated(document) ? [WATERMARK] : []),
    ...[incompleteText(document) ?? []].flat(),
    answer.decision,
    ...answer.cards.flatMap((card) => listed(`${card.system} on ${[...gpus].join(', ') || 'no GPU'}`, cardLines(card))),
    ...listed(titleOfSection('violations'), violationCauses(answer)),
    ...listed(titleOfSection('unknown'), unknownLines(answer)),
  ].join('\n');
}
