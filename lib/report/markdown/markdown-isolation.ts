/** The details of isolation metrics as Markdown tables. */
import { quantity } from '../../results/text/quantity.js';
import type { View } from '../../results/view.js';
import { interferenceMaps, interferenceTable } from '../isolation/interference.js';
import { leftOutDetails } from '../isolation/left-out.js';
import { remarkLines } from '../isolation/lines.js';
import type { Outcome } from '../isolation/outcome-kinds.js';
import { type OutcomeTable, outcomeTables } from '../isolation/outcome-tables.js';
import { recoveryMatrix } from '../isolation/recovery.js';
import { sharePanels, shareTables } from '../isolation/tenant-shares.js';
import { type MarkdownColumn, markdownBlock, markdownTable, markdownText, titledMarkdown } from './markdown-text.js';

const MOST_SHARES = 96;

const left = (title: string): MarkdownColumn => ({ title: markdownText(title) });
const right = (title: string): MarkdownColumn => ({ ...left(title), align: 'right' });
const titled = (text: string, table: string): string => `**${markdownText(text)}**\n\n${table}`;

function outcomeText(outcome: Outcome | null): string {
  if (outcome === null) return '–';
  const word = outcome.state === 'bad' ? `**${markdownText(outcome.word)}**` : markdownText(outcome.word);
  return outcome.note === '' ? word : `${word} (${markdownText(outcome.note)})`;
}

const outcomeMarkdown = ({ metric, title, keys, systems, rows, leftOut }: OutcomeTable): string =>
  titled(
    `${metric} ${title}${leftOut > 0 ? ` (${leftOut} more rows are in the document)` : ''}`,
    markdownTable(
      [...keys, ...systems].map(left),
      rows.map(({ keys: names, outcomes }) => [...names.map(markdownText), ...outcomes.map(outcomeText)]),
    ),
  );

const shareMarkdown = (view: View): string[] =>
  shareTables(sharePanels(view), MOST_SHARES).map((one) => {
    const rest = one.leftOut > 0 ? `\n\n${one.leftOut} more tenants are in the document.` : '';
    return `${titledMarkdown(one)}${rest}`;
  });

/** Makes a table per system. */
function recoveryMarkdown(view: View): string[] {
  const matrix = recoveryMatrix(view);
  if (!matrix) return [];
  const { metrics, systems, rows, leftOut } = matrix;
  const cut = leftOut > 0 ? ` (${leftOut} more rows are in the document)` : '';
  return systems.map((system, index) =>
    titled(
      `${metrics.join(', ')} Faults, and recovery from them, ${system}${cut}`,
      markdownTable(
        [left('Fault'), left('Told'), right('How soon'), left('Recovered')],
        rows.map(({ fault, cells }) => {
          const { told = '', soonUs = null, recovered = null } = cells[index] ?? {};
          const soon = soonUs === null ? '–' : quantity(soonUs, 'us');
          return [markdownText(fault), markdownText(told || '–'), soon, outcomeText(recovered)];
        }),
      ),
    ),
  );
}

function leftOutMarkdown(view: View): string[] {
  const lines = leftOutDetails(view);
  if (lines.length === 0) return [];
  const list = lines.map((line) => `- ${markdownBlock(line)}`).join('\n');
  return [titled('Details in an unknown form, shown unchanged', list)];
}

/** All tables; null if no metric has such details. */
export function isolationMarkdown(view: View): string | null {
  const remarks = remarkLines(view);
  const parts = [
    ...(remarks.length > 0 ? [remarks.map((line) => `- ${markdownBlock(line)}`).join('\n')] : []),
    ...outcomeTables(view).map(outcomeMarkdown),
    ...interferenceMaps(view).map(interferenceTable).map(titledMarkdown),
    ...shareMarkdown(view),
    ...recoveryMarkdown(view),
    ...leftOutMarkdown(view),
  ];
  return parts.length === 0 ? null : parts.join('\n\n');
}
