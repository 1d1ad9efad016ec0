/** A fleet's report for the terminal and for Markdown. */
import { WATERMARK } from '../../report/formats/terminal.js';
import { dataMarkdown, markdownBlock } from '../../report/markdown/markdown-text.js';
import { dataText } from '../../report/tables/table.js';
import { screen } from '../../report/text/screen.js';
import { plain } from '../../results/text/plain.js';
import type { FleetReport } from './document.js';
import { sectionsOf } from './fleet-sections.js';

export const titleOf = ({ plan, coverage }: FleetReport): string =>
  `Fleet ${plan.id}: ${coverage.cards} ${coverage.cards === 1 ? 'card' : 'cards'}, ${plan.command} ${plan.arguments.join(' ')}`.trimEnd();

export function fleetText(report: FleetReport): string {
  const sections = sectionsOf(report).map(({ title, notes, table }) =>
    [title.toUpperCase(), ...notes.map(plain), ...(table ? [dataText(table, screen())] : [])].join('\n'),
  );
  return [...(report.simulated ? [WATERMARK] : []), plain(titleOf(report)), ...sections].join('\n\n');
}

export function fleetMarkdown(report: FleetReport): string {
  const sections = sectionsOf(report).flatMap(({ title, notes, table }) => [
    `## ${title}`,
    notes.map((note) => `- ${markdownBlock(note)}`).join('\n'),
    dataMarkdown(table) ?? '',
  ]);
  const watermark = report.simulated ? `**${WATERMARK}**` : '';
  return `${[`# ${markdownBlock(titleOf(report))}`, watermark, ...sections].filter((part) => part !== '').join('\n\n')}\n`;
}
