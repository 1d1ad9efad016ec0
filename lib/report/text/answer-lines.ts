/** The answer for a terminal, a chat or a ticket: lines of plain text. */
import type { Answer, Card, Figure } from '../../results/answer-schema.js';
import { brokenText, commonReason, decidesText, notesOf, numberOf, placesText } from './answer-text.js';

/** Formats a figure: `launch +290.0 ns (+147.0 … +433.0): slower`, `launch: invalid: the reason`. */
function figureLine(figure: Figure): string {
  const { what, shown, shownCi95, word, note } = figure;
  if (shown === null && word === 'not measured') return notesOf(figure) ?? word;
  if (shown === null && word === 'invalid') return [what, word, ...(note === null ? [] : [note])].join(': ');
  const interval = shownCi95 === null ? '' : ` (${shownCi95})`;
  const notes = notesOf(figure);
  return `${what} ${numberOf(figure)}${interval}: ${word}${notes === null ? '' : `; ${notes}`}`;
}

/** Formats the figures of a line, which says only once that nothing was measured. */
const lineTexts = (figures: readonly Figure[]): string[] => [
  ...new Set(
    figures.map((one) =>
      one.word === 'not measured' && figures.length > 1 ? `${one.what}: ${figureLine(one)}` : figureLine(one),
    ),
  ),
];

/** Formats a card. A question with one figure takes one line. */
export const cardLines = ({ lines }: Card): string[] =>
  lines.flatMap(({ title, figures }) => {
    const [first, ...others] = lineTexts(figures);
    return others.length === 0
      ? [`${title}: ${first}`]
      : [`${title}:`, ...[first, ...others].map((text) => `  ${text}`)];
  });

export const violationCauses = ({ violations }: Answer): string[] =>
  violations.map((one) => `${one.system} ${brokenText(one)}`);

export function adviceLines({ recommendations }: Answer): string[] {
  const common = commonReason(recommendations);
  return [
    ...(common === null ? [] : [common]),
    ...recommendations.flatMap((advice) => {
      const places = placesText(advice);
      const reason = common === null ? advice.reason : null;
      return [
        `${advice.use}: ${[places && `${places}.`, reason, decidesText(advice)].filter(Boolean).join(' ')}`,
        ...advice.systems.map(({ system, text }) => `  ${system}: ${text}`),
      ];
    }),
  ];
}

export const unknownLines = ({ unknown }: Answer): string[] =>
  unknown.flatMap(({ text, command }) => [text, ...(command === null ? [] : [`  ${command}`])]);
