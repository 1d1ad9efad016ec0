/** The answer as Markdown: a table per system, then lists. */
import type { Advice, Answer, Card } from '../../results/answer-schema.js';
import { brokenText, commonReason, decidesText, notesOf, numberOf, openText, placesText } from '../text/answer-text.js';
import { fenced, markdownBlock, markdownTable, markdownText } from './markdown-text.js';

function cardTable({ system, lines }: Card): string {
  const columns = [
    { title: 'Question' },
    { title: 'About' },
    { title: 'Number', align: 'right' as const },
    { title: '95 % interval', align: 'right' as const },
    { title: 'Conclusion' },
    { title: 'Note' },
  ];
  const rows = lines.flatMap(({ title, figures }) =>
    figures.map((figure, i) => [
      i === 0 ? title : '',
      figure.what,
      numberOf(figure),
      figure.shownCi95 ?? '–',
      figure.word,
      notesOf(figure) ?? '–',
    ]),
  );
  return `### ${markdownText(system)}\n\n${markdownTable(
    columns,
    rows.map((row) => row.map(markdownText)),
  )}`;
}

export const answerMarkdown = (answer: Answer): string =>
  [answer.decision, openText(answer)]
    .flatMap((text) => (text === null ? [] : [markdownBlock(text)]))
    .concat(answer.cards.map(cardTable))
    .join('\n\n');

export const causesMarkdown = ({ violations }: Answer): string | null =>
  violations.length === 0
    ? null
    : violations.map((one) => `- **${markdownText(one.system)}** ${markdownText(brokenText(one))}`).join('\n');

function adviceMarkdown(advice: Advice, common: string | null): string {
  const places = placesText(advice);
  const lead = [places && `${places}.`, common === null ? advice.reason : null, decidesText(advice)].filter(Boolean);
  return [
    `- **${markdownText(advice.use)}**: ${markdownText(lead.join(' '))}`,
    ...advice.systems.map(({ system, text }) => `  - ${markdownBlock(system)}: ${markdownText(text)}`),
  ].join('\n');
}

export function recommendationsMarkdown({ recommendations }: Answer): string | null {
  if (recommendations.length === 0) return null;
  const common = commonReason(recommendations);
  const list = recommendations.map((advice) => adviceMarkdown(advice, common)).join('\n');
  return common === null ? list : `${markdownBlock(common)}\n\n${list}`;
}

export const unknownMarkdown = ({ unknown }: Answer): string | null =>
  unknown.length === 0
    ? null
    : unknown.map(({ text, command }) => `${markdownBlock(text)}${command === null ? '' : `\n\n${fenced(command)}`}`).join('\n\n'); // prettier-ignore
