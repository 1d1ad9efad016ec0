/** The details of isolation metrics as Markdown tables. */
import { number } from '../results/plain.js';
import { quantity } from '../results/quantity.js';
import type { View } from '../results/view.js';
import { interferenceMaps, type InterferenceMap, type Pair } from './isolation/interference.js';
import { leftOutDetails } from './isolation/left-out.js';
import { type Outcome, type OutcomeTable, outcomeTables } from './isolation/outcome-tables.js';
import { recoveryMatrix } from './isolation/recovery.js';
import { sharePanels, type TenantShare } from './isolation/tenant-shares.js';
import { type MarkdownColumn, markdownBlock, markdownTable, markdownText } from './markdown-text.js';
import { barline } from './sparkline.js';

const MOST_SHARES = 96;
/** Limit on the blocks in a line. */
const MOST_BLOCKS = 24;

const left = (title: string): MarkdownColumn => ({ title: markdownText(title) });
const right = (title: string): MarkdownColumn => ({ ...left(title), align: 'right' });
const cellText = (value: number | null): string => (value === null ? '–' : number(value));
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

function pairText(pair: Pair | null): string {
  if (pair === null) return '–';
  return pair.percent === null ? markdownText(pair.reason || '–') : `${number(pair.percent)} %`;
}

const interferenceMarkdown = ({ metric, system, victims, aggressors, cells }: InterferenceMap): string =>
  titled(
    `${metric} Interference: what each victim loses beside each aggressor, ${system}`,
    markdownTable(
      [left('Victim'), ...aggressors.map(right)],
      victims.map((victim, row) => [markdownText(victim), ...(cells[row] ?? []).map(pairText)]),
    ),
  );

function overTime({ stretches }: TenantShare): string {
  if (stretches.length === 0) return '–';
  const each = Math.ceil(stretches.length / MOST_BLOCKS);
  const means = Array.from({ length: Math.ceil(stretches.length / each) }, (_, i) => {
    const own = stretches.slice(i * each, (i + 1) * each);
    return own.reduce((sum, { percent }) => sum + percent, 0) / own.length;
  });
  return barline(means, 100);
}

function shareMarkdown(view: View): string[] {
  const rows = sharePanels(view).flatMap(({ metric, system, tenants, round, of }) =>
    tenants.map((tenant) => [
      ...[metric, system, tenant.name].map(markdownText),
      ...[tenant.limitPercent, tenant.meanPercent, tenant.lateMeanPercent].map(cellText),
      overTime(tenant),
      of > 1 ? `${round} of ${of}` : '1',
    ]),
  );
  if (rows.length === 0) return [];
  const columns = [
    ...[left('Metric'), left('System'), left('Tenant')],
    ...[right('Limit %'), right('Mean %'), right('Second half %'), left('Over time'), right('Round')],
  ];
  const more = rows.length - MOST_SHARES;
  const rest = more > 0 ? `\n\n${more} more tenants are in the document.` : '';
  return [`${titled('Share of the card over time', markdownTable(columns, rows.slice(0, MOST_SHARES)))}${rest}`];
}

/** A table per system. */
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

/** Null if no metric has such details. */
export function isolationMarkdown(view: View): string | null {
  const parts = [
    ...outcomeTables(view).map(outcomeMarkdown),
    ...interferenceMaps(view).map(interferenceMarkdown),
    ...shareMarkdown(view),
    ...recoveryMarkdown(view),
    ...leftOutMarkdown(view),
  ];
  return parts.length === 0 ? null : parts.join('\n\n');
}
