/** The cost for a program under each system as a Markdown table. */
import type { View } from '../results/view.js';
import { type MarkdownColumn, markdownTable, markdownText } from './markdown-text.js';
import {
  contributorsText,
  missingCallsText,
  percentText,
  PROGRAM_NOTE,
  programCostsOf,
  programName,
  stepText,
  taxText,
} from './program-costs.js';

const columns: readonly MarkdownColumn[] = [
  { title: 'Program' },
  { title: 'System' },
  { title: 'A step', align: 'right' },
  { title: '95 % interval', align: 'right' },
  { title: 'Of the step', align: 'right' },
  { title: '95 % interval', align: 'right' },
  { title: 'Step' },
  { title: 'Largest' },
  { title: 'Not priced' },
];

/** Null without a call profile. */
export function programCostsMarkdown(view: View): string | null {
  const costs = programCostsOf(view);
  if (costs.length === 0) return null;
  const rows = costs.map((cost) => {
    const tax = taxText(cost);
    const percent = percentText(cost);
    return [
      markdownText(programName(cost)),
      markdownText(cost.system),
      ...[tax?.value ?? '–', tax?.interval ?? '–', percent?.value ?? '–', percent?.interval ?? '–'],
      ...[stepText(cost), contributorsText(cost) ?? '–', missingCallsText(cost) ?? '–'].map(markdownText),
    ];
  });
  return [PROGRAM_NOTE, markdownTable([...columns], rows)].join('\n\n');
}
